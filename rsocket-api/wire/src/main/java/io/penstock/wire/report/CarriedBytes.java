package io.penstock.wire.report;

import io.penstock.wire.protocol.Carrier;
import java.util.Map;

/// Bytes of blocks that a connection, or a node, has moved so far, by what carried them.
///
/// @param in that came; a carrier that carried nothing is not in it
/// @param out that went
public record CarriedBytes(Map<Carrier, Long> in, Map<Carrier, Long> out) {
  public CarriedBytes {
    in = Map.copyOf(in);
    out = Map.copyOf(out);
  }
}
