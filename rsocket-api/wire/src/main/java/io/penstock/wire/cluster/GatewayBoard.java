package io.penstock.wire.cluster;

import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;

/// What gateways tell of the use of their tenants: those that told this node, and, in a cluster, those that told
/// another member. Safe from any thread.
public final class GatewayBoard {
  private static final Logger LOG = LoggerFactory.getLogger(GatewayBoard.class);
  private static final String NAME = "gateway/";
  /// After that without a telling a gateway is gone.
  private static final long SILENCE_NANOS = Duration.ofSeconds(5).toNanos();
  /// After that its last telling is removed.
  private static final long FORGOTTEN_NANOS = Duration.ofSeconds(30).toNanos();
  private static final int MOST_GATEWAYS = 256;

  private final LongSupplier nanos;
  @GuardedBy("this") private final Map<String, Heard> heard = new HashMap<>();
  private volatile @Nullable SharedTable shared;

  /// @param nanos when it was heard
  private record Heard(GatewayUse use, byte[] value, long nanos) {}

  /// @param nanos clock of silences
  public GatewayBoard(LongSupplier nanos) {
    this.nanos = requireNonNull(nanos, "nanos");
  }

  /// Shares what gateways tell with the other members, until the result is disposed.
  public Disposable join(SharedTable table) {
    Disposable listening = table.listen((name, value) -> take(table, name, value));
    table.values().forEach((name, value) -> take(table, name, value));
    shared = table;
    return () -> {
      shared = null;
      listening.dispose();
    };
  }

  private void take(SharedTable table, String name, byte @Nullable [] value) {
    if (name.startsWith(NAME) && value != null) {
      try {
        take(GatewayUse.of(value), value);
      } catch (IllegalArgumentException | IllegalStateException e) {
        LOG.debug("a member tells what is no use of a gateway", e);
        table.remove(name, value);
      }
    }
  }

  /// Takes what a gateway says of itself.
  ///
  /// @return what the other gateways said last
  /// @throws IllegalStateException if there are too many gateways
  public List<GatewayUse> tell(GatewayUse own) {
    byte[] value = own.value();
    take(own, value);
    SharedTable table = shared;
    if (table != null) {
      table.put(NAME + own.gateway(), value);
    }
    return others(own.gateway());
  }

  /// Gateways that are there.
  public List<GatewayUse> all() {
    return others("");
  }

  private synchronized void take(GatewayUse use, byte[] value) {
    Heard before = heard.get(use.gateway());
    if (before == null && heard.size() >= MOST_GATEWAYS) {
      throw new IllegalStateException("gateways must be <= " + MOST_GATEWAYS + " (was one more)");
    }
    if (before == null || SharedTable.isLater(value, before.value)) {
      heard.put(use.gateway(), new Heard(use, value, nanos.getAsLong()));
    }
  }

  private List<GatewayUse> others(String gateway) {
    List<GatewayUse> others = new ArrayList<>();
    Map<String, byte[]> forgotten = new HashMap<>();
    synchronized (this) {
      long now = nanos.getAsLong();
      heard.values().removeIf(each -> {
        boolean isOld = now - each.nanos > FORGOTTEN_NANOS;
        if (isOld) {
          forgotten.put(NAME + each.use.gateway(), each.value);
        } else if (now - each.nanos <= SILENCE_NANOS && !each.use.gateway().equals(gateway)) {
          others.add(each.use);
        }
        return isOld;
      });
    }
    SharedTable table = shared;
    if (table != null) {
      forgotten.forEach(table::remove);
    }
    return others;
  }
}
