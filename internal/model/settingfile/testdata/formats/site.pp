# the hosts of the storage network
class profile::tuning ($rmem = '16777216') {
  sysctl { 'net.core.rmem_max': value => $rmem }
  sysctl { 'net.core.wmem_max':
    ensure => present,
    value  => '16777216',
  }
  sysctl::value { 'net.ipv4.tcp_rmem': value => "4096 131072 33554432";
                  'net.ipv4.tcp_sack': value => 1 }
  sysctl { ['net.ipv4.tcp_timestamps', 'net.ipv4.tcp_window_scaling']: value => '1' }
  if $facts['virtual'] == 'kvm' {
    sysctl { 'net.ipv4.tcp_ecn': value => '1' }
  }
  sysctl { 'net.ipv4.tcp_tw_recycle': ensure => absent }
  notify { 'net.ipv4.tcp_mem is left as it is': }
}
