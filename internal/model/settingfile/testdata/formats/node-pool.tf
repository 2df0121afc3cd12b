resource "google_container_node_pool" "p" {
  name = "p"
  node_config {
    linux_node_config {
      sysctls = {
        "net.core.netdev_max_backlog" = "10000"
        "net.ipv4.tcp_rmem"           = "4096 87380 ${var.rmem}"
      }
    }
  }
}
resource "azurerm_kubernetes_cluster_node_pool" "q" {
  linux_os_config {
    sysctl_config {
      net_core_somaxconn      = 65535
      net_ipv4_tcp_tw_reuse   = true
      net_ipv4_ip_local_port_range_min = 1024
    }
  }
}
resource "aws_instance" "x" {
  user_data = <<-EOF
    #!/bin/bash
    sysctl -w net.core.rmem_max=16777216
    echo "net.ipv4.tcp_sack = 0" >> /etc/sysctl.conf
  EOF
}
