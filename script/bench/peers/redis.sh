#!/bin/sh
# A redis-server that saves nothing, with the key that redis-benchmark asks for.
#   redis.sh ADDRESS PORT DIRECTORY
redis-server --port "$2" --bind "$1" --protected-mode no --dir "$3" --save '' &
server=$!
trap 'kill $server' TERM INT
until redis-cli -h "$1" -p "$2" set key:__rand_int__ xxx; do
	sleep 0.1
	kill -0 $server || exit 1
done
wait $server
