class net {
  sysctl { 'net.ipv4.tcp_rmem': value => '4096 87380 16777216' }
  sysctl { 'net.core.wmem_max':
    ensure => present,
    value  => 16777216,
  }
  exec { 'sysctl -w net.ipv4.tcp_no_metrics_save=1': path => '/sbin' }
}
