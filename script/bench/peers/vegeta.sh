#!/bin/sh
# vegeta.sh URL SECONDS: 500 requests a second, and vegeta's report of them.
echo "GET $1" | vegeta attack -rate 500 -duration "$2s" | vegeta report -type json
