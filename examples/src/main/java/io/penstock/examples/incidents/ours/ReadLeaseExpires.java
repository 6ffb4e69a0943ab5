package io.penstock.examples.incidents.ours;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockKey;
import io.penstock.recording.RecordedEvent;
import io.penstock.tier.TierHolds;
import io.penstock.tier.TierHolds.LeaseExpiredException;
import io.penstock.tier.TierHolds.LeaseTerms;
import io.penstock.tier.TierHolds.ReadLease;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// A read names its lease, and the lease is checked: a read that comes too late is refused by a typed error.
public final class ReadLeaseExpires extends StackRig {
  private static final Duration LIFE = Duration.ofSeconds(30);

  private final TierHolds decode = tier.holds("decode");
  private final Map<Long, ReadLease> leases = new HashMap<>();
  private @Nullable Read read;

  /// As many blocks as the prefill worker of the peer has; nothing is kept on the disk.
  public ReadLeaseExpires() {
    super(4, options().withTiering(options().tiering().withOffload((key, uses) -> false)));
  }

  @Override
  void take(RecordedEvent input) {
    switch (input.kind()) {
      case FLOW -> {
        put(input.keys());
        leases.put(input.flow(), requireNonNull(lease(input.keys())));
      }
      case TIMER -> {
        // The lease has ended by itself
      }
      case READ -> read = read(decode.read(requireNonNull(leases.get(input.flow())).id(), input.keys(), scope()));
      case LINK -> {
        // Decode has no success to report
      }
      default -> throw new IllegalArgumentException("input must be one of a prefill worker (was " + input + ")");
    }
  }

  private @Nullable ReadLease lease(List<BlockKey> keys) {
    return decode.lease(keys, LeaseTerms.defaults().withLife(LIFE)).block();
  }

  private @Nullable Throwable late() {
    return read == null ? null : read.failure;
  }

  @Override
  public boolean isGood() {
    return late() instanceof LeaseExpiredException;
  }

  @Override
  public String ending() {
    Read late = read;
    return late == null
        ? "no read"
        : "decode gets %d blocks and %s".formatted(late.came.size(),
            late.failure == null ? "no error" : nameOf(late.failure));
  }

  @Override
  public void close() {
    decode.close();
    super.close();
  }
}
