package io.penstock.lab.plan;

import static java.util.Objects.requireNonNull;

import java.util.Map;

/// Finds the host of the rank behind a port, when one prefill instance spans several hosts.
///
/// @param hosts by distance of the port from `firstPort`, or from `basePort`
/// @param firstPort [RankPorts#firstPort()], equal on all hosts of the instance
/// @param basePort of the data-parallel replica that has the request
/// @param other host of every other port
public record HostRoutes(Map<Integer, Host> hosts, int firstPort, int basePort, Host other) {
  public HostRoutes {
    hosts = Map.copyOf(hosts);
    requireNonNull(other, "other");
  }

  /// @param engine id of the engine that runs there
  public record Host(String name, String engine) {
    public Host {
      requireNonNull(name, "name");
      requireNonNull(engine, "engine");
    }
  }

  /// The host that listens on a port.
  public Host route(int port) {
    Host byFirst = hosts.get(port - firstPort);
    return byFirst == null ? hosts.getOrDefault(port - basePort, other) : byFirst;
  }
}
