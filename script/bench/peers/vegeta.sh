#!/bin/sh
# vegeta.sh URL: 500 requests a second for five seconds, and vegeta's report of them.
echo "GET $1" | vegeta attack -rate 500 -duration 5s | vegeta report -type json
