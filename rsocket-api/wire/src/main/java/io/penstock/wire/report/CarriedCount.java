package io.penstock.wire.report;

import io.penstock.wire.protocol.Carrier;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/// Counts the bytes of streams in one direction, by what carried them. Safe from any thread.
public final class CarriedCount implements Carried {
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
