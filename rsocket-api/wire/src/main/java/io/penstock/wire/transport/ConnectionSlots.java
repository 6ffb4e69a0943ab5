package io.penstock.wire.transport;

import io.penstock.check.Checks;
import java.time.Duration;

/// Maximum numbers of connections of a server, in all and for one address.
///
/// @param setUp maximum number of connections that are set up
/// @param byAddress maximum number of those from one source address; an IPv6 network of 64 bits counts as one, and so
///     do all Unix domain sockets
/// @param newcomers maximum number of connections that are not set up; beyond that the server closes the oldest one of
///     the address that has the largest number of them
/// @param timeToSetup maximum time until SETUP
public record ConnectionSlots(int setUp, int byAddress, int newcomers, Duration timeToSetup) {
  private static final int MOST = 1 << 20;

  public ConnectionSlots {
    ConnectionLimits.within("setUp", setUp, 1, MOST);
    ConnectionLimits.within("byAddress", byAddress, 1, setUp);
    ConnectionLimits.within("newcomers", newcomers, 1, MOST);
    Checks.atLeastOneMilli("timeToSetup", timeToSetup);
  }

  /// 4,096 connections, half of them from one address, 256 newcomers, 5 s to set up.
  public static ConnectionSlots defaults() {
    return of(4_096);
  }

  /// `setUp` connections, half of them from one address, 256 newcomers, 5 s to set up.
  public static ConnectionSlots of(int setUp) {
    return new ConnectionSlots(setUp, Math.max(1, setUp / 2), 256, Duration.ofSeconds(5));
  }

  public ConnectionSlots withByAddress(int connections) {
    return new ConnectionSlots(setUp, connections, newcomers, timeToSetup);
  }

  public ConnectionSlots withNewcomers(int connections) {
    return new ConnectionSlots(setUp, byAddress, connections, timeToSetup);
  }

  public ConnectionSlots withTimeToSetup(Duration time) {
    return new ConnectionSlots(setUp, byAddress, newcomers, time);
  }
}
