package io.penstock.wire.report;

import io.penstock.wire.protocol.Carrier;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/// Bytes of blocks that a connection, or a node, has moved so far, by what carried them.
///
/// @param in that came; a carrier that carried nothing is not in it
/// @param out that went
public record CarriedBytes(Map<Carrier, Long> in, Map<Carrier, Long> out) {
  public CarriedBytes {
    in = Map.copyOf(in);
    out = Map.copyOf(out);
  }

  /// Counts one way. Safe from any thread.
  public static final class Count implements Carried {
    private final LongAdder inline = new LongAdder();
    private final LongAdder shared = new LongAdder();

    @Override
    public void count(long bytes, boolean byReference) {
      (byReference ? shared : inline).add(bytes);
    }

    public Map<Carrier, Long> byCarrier() {
      Map<Carrier, Long> found = new EnumMap<>(Carrier.class);
      found.put(Carrier.SHARED_MEMORY, shared.sum());
      found.put(Carrier.INLINE, inline.sum());
      found.values().removeIf(bytes -> bytes == 0);
      return found;
    }
  }
}
