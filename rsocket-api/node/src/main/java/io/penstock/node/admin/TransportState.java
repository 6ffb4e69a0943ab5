package io.penstock.node.admin;

import org.jspecify.annotations.Nullable;

/// One transport of a node.
///
/// @param transport `tcp`, `uds` or `ws`
/// @param state `listening` or `failed`
/// @param address where it listens, or was to listen
/// @param problem why it failed, else null
public record TransportState(String transport, String state, String address, @Nullable String problem) {
  public static TransportState listening(String transport, String address) {
    return new TransportState(transport, "listening", address, null);
  }

  public static TransportState failed(String transport, String address, String problem) {
    return new TransportState(transport, "failed", address, problem);
  }

  public boolean works() {
    return problem == null;
  }
}
