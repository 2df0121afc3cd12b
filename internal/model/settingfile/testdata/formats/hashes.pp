class profile::tuning (
  Integer $rmem = 16777216,
) {
  sysctl { 'net.core.rmem_max': value => '16777216' }
  sysctl { 'net.core.wmem_max':
    ensure => 'present',
    value  => $rmem,
  }
  sysctl::value { 'net.ipv4.tcp_rmem': value => "4096 87380 ${rmem}" }
  sysctl {
    'net.core.somaxconn': value => 4096;
    'net.ipv4.tcp_syncookies': value => 1;
  }
  $settings = {
    'net.ipv4.tcp_tw_reuse' => { value => '1' },
    'net.ipv4.tcp_sack'     => { value => 1 },
  }
  create_resources(sysctl, $settings)
  augeas { 'sysctl_fin':
    context => '/files/etc/sysctl.conf',
    changes => [ "set net.ipv4.tcp_fin_timeout 15" ],
  }
  exec { 'sysctl -w net.ipv4.tcp_low_latency=1': path => '/sbin' }
  file { '/etc/sysctl.d/50-x.conf':
    content => "net.ipv4.tcp_ecn = 1\nnet.ipv4.tcp_timestamps = 0\n",
  }
}
