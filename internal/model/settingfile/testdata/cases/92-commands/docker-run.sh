docker run -d --sysctl net.core.somaxconn=1024 --sysctl net.ipv4.tcp_syncookies=0 --sysctl=net.core.rmem_max=1048576 nginx
podman run --rm --sysctl "net.ipv4.ip_unprivileged_port_start=80" -p 80:80 caddy
