resource "google_container_node_pool" "np" {
  name = "np"
  node_config {
    machine_type = "e2-medium"
    linux_node_config {
      sysctls = {
        "net.core.netdev_max_backlog" = "10000"
        "net.core.rmem_max"           = 10000
        "net.ipv4.tcp_tw_recycle"     = "1"
      }
    }
  }
}
resource "azurerm_kubernetes_cluster_node_pool" "p" {
  linux_os_config {
    sysctl_config {
      net_core_somaxconn = 16384
      net_ipv4_tcp_tw_reuse = true
      net_ipv4_ip_local_port_range_min = 32768
      net_ipv4_ip_local_port_range_max = 60999
    }
  }
}
