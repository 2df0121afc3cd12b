{ config, lib, pkgs, ... }:
let
  buffers = 16777216;
in
{
  boot.kernel.sysctl."net.core.rmem_max" = lib.mkForce 16777216;
  boot.kernel.sysctl = {
    "net.core.wmem_max" = buffers;
    "net.ipv4.tcp_rmem" = "4096 131072 33554432"; # three values
    "net.ipv4.tcp_sack" = true;
    "net.ipv4.tcp_ecn" = lib.mkDefault 1;
    "vm.swappiness" = null;
  };
  boot = {
    kernelModules = [ "tcp_bbr" ];
    kernel = { sysctl."net.core.default_qdisc" = ''fq''; };
  };
  boot.kernel.sysctl = lib.mkIf config.services.nginx.enable {
    "net.core.somaxconn" = 4096;
  };
  networking.hostName = "net.ipv4.tcp_mem";
}
