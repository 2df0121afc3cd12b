{ config, lib, pkgs, ... }:
{
  networking.hostName = "x";
  boot = {
    kernelModules = [ "tcp_bbr" ];
    kernel.sysctl = {
      "net.core.default_qdisc" = "fq";
      "net.ipv4.tcp_congestion_control" = lib.mkDefault "bbr";
      "net.core.rmem_max" = 16 * 1024 * 1024;
      "net.ipv4.tcp_rmem" = "4096 87380 ${toString 16777216}";
      net.ipv4.tcp_sack = mkForce false;
    } // lib.optionalAttrs cfg.router {
      "net.ipv4.conf.all.forwarding" = true;
    };
  };
  boot.kernel.sysctl."net.ipv6.conf.all.accept_ra" = 2;
  boot.kernel.sysctl = lib.mkMerge [
    { "net.ipv4.ip_forward" = 1; }
    (lib.mkIf config.foo.enable { "net.core.somaxconn" = 1024; })
  ];
  systemd.services.tune = {
    script = ''
      ${pkgs.ethtool}/bin/ethtool -K eth0 gro off
      sysctl -w net.ipv4.tcp_ecn=1
    '';
  };
}
