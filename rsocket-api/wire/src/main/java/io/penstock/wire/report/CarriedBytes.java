package io.penstock.wire.report;

import io.penstock.wire.protocol.Carrier;
import java.util.Map;

/// Bytes of blocks that a connection, or a node, has moved so far, by carrier.
///
/// @param in received; a carrier without bytes is not in it
/// @param out sent
public record CarriedBytes(Map<Carrier, Long> in, Map<Carrier, Long> out) {
  public CarriedBytes {
    in = Map.copyOf(in);
    out = Map.copyOf(out);
  }
}
