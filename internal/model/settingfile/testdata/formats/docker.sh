docker run -d --name web --sysctl net.core.somaxconn=1024 \
  --sysctl "net.ipv4.tcp_rmem=4096 87380 16777216" --sysctl=net.ipv4.ip_forward=1 nginx
podman run --net=host --sysctl net.core.somaxconn=1 x
docker compose up
docker exec web sysctl -w net.ipv4.tcp_sack=0
