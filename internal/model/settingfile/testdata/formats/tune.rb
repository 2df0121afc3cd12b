sysctl 'net.core.somaxconn' do
  value 4096
end
sysctl_param 'net.ipv4.tcp_rmem' do
  value '4096 87380 16777216'
end
default['sysctl']['params']['net']['core']['rmem_max'] = 16777216
