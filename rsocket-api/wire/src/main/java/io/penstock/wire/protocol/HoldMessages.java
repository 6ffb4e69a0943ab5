package io.penstock.wire.protocol;

import static io.penstock.wire.protocol.Fields.oneOf;
import static io.penstock.wire.protocol.Fields.present;

import io.penstock.tier.Presence;
import io.penstock.tier.TierHolds.KeyOutcome;
import io.penstock.tier.TierHolds.LeaseTerms;
import io.penstock.tier.TierHolds.Pin;
import io.penstock.tier.TierHolds.ReadLease;
import io.penstock.tier.TierHolds.RemovalCount;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The control messages of read leases, pins and removals; see [Messages] for what holds for all.
public final class HoldMessages {
  private HoldMessages() {}

  /// Longest life on the wire: 1,000 days.
  private static final long MOST_MILLIS = 86_400_000_000L;

  private static Duration life(String field, @Nullable Long millis) {
    if (millis != null && (millis < 0 || millis > MOST_MILLIS)) {
      throw WireFormatException.request(field, "in [0, " + MOST_MILLIS + "]", millis);
    }
    return Duration.ofMillis(millis == null ? 0 : millis);
  }

  private static @Nullable Long millis(Duration life) {
    return life.isZero() ? null : life.toMillis();
  }

  /// Lease that a `match` or `exists` asks for.
  @OmitsNulls
  public record LeaseWanted(@Nullable Long millis, @Nullable Boolean survives, @Nullable Boolean prefetch,
      @Nullable Long id) {
    public LeaseWanted {
      life("lease.millis", millis);
      if (id != null && id <= 0) {
        throw WireFormatException.request("lease.id", "> 0", id);
      }
    }

    public static LeaseWanted of(LeaseTerms terms) {
      return new LeaseWanted(HoldMessages.millis(terms.life()), terms.survives() ? true : null,
          terms.prefetch() ? true : null, terms.id() == 0 ? null : terms.id());
    }

    public LeaseTerms terms(boolean prefixOnly) {
      return new LeaseTerms(life("lease.millis", millis), prefixOnly, survives != null && survives,
          prefetch != null && prefetch, id == null ? 0 : id);
    }
  }

  /// The lease that a `match` or `exists` was given.
  public record LeaseGiven(long id, long millis, Messages.Bits leased) {
    public LeaseGiven {
      present("lease.leased", leased);
      if (id <= 0 || millis < 0) {
        throw WireFormatException.request("lease", "of an id > 0 and millis >= 0", id + " and " + millis);
      }
    }

    /// Null if nothing was leased.
    public static @Nullable LeaseGiven of(ReadLease lease) {
      return lease.id() == 0
          ? null
          : new LeaseGiven(lease.id(), lease.life().toMillis(), Messages.Bits.of(lease.leased()));
    }

    /// @param given null from a node that leased nothing, or knows no leases
    public static ReadLease lease(@Nullable LeaseGiven given, Presence found) {
      return given == null
          ? new ReadLease(0, found, Presence.of(found.size(), new BitSet()), Duration.ZERO)
          : new ReadLease(given.id, found, given.leased.of(found.size()), Duration.ofMillis(given.millis));
    }
  }

  public record ReleaseRequest(long lease) {}

  public record ReleaseReply(boolean released) {}

  /// A pin as a field.
  @OmitsNulls
  public record PinWanted(String kind, @Nullable Long millis) {
    public PinWanted {
      if (oneOf(Pin.Kind.class, "pin.kind", kind) != Pin.Kind.SOFT && millis != null) {
        throw WireFormatException.request("pin.millis", "absent unless the pin is SOFT", millis);
      }
      life("pin.millis", millis);
    }

    public static PinWanted of(Pin pin) {
      return new PinWanted(pin.kind().name(), HoldMessages.millis(pin.life()));
    }

    public Pin pin() {
      return new Pin(oneOf(Pin.Kind.class, "pin.kind", kind), life("pin.millis", millis));
    }
  }

  public record PinRequest(Messages.Keys keys, PinWanted pin) {
    public PinRequest {
      present("keys", keys);
      present("pin", pin);
    }
  }

  /// Keys, a pattern or all; exactly one of the three.
  ///
  /// @param force null in a request of which the sender wants no outcomes
  /// @param space of a pattern or of all; null for the node's first space
  @OmitsNulls
  public record RemoveRequest(Messages.@Nullable Keys keys, @Nullable String pattern, @Nullable Boolean all,
      @Nullable Boolean force, byte @Nullable [] space) {
    public RemoveRequest {
      int ways = (keys == null ? 0 : 1) + (pattern == null ? 0 : 1) + (all == null || !all ? 0 : 1);
      if (ways == 0) {
        present("keys", keys);
      } else if (ways > 1) {
        throw WireFormatException.request("keys, pattern, all", "exactly one", ways);
      }
    }

    public boolean isForced() {
      return force != null && force;
    }
  }

  /// The outcomes of a `remove` or a `pin`: bits of the keys that it was done for, and why it was not for the others.
  /// Counts of a `remove` by pattern, or of all.
  ///
  /// @param unchanged bits of the keys of `bits` for which there was nothing to do; null if there is none
  @OmitsNulls
  public record Outcomes(int size, byte[] bits, @Nullable List<Outcome> outcomes, @Nullable Long removed,
      @Nullable Long leased, @Nullable Long notReady, byte @Nullable [] unchanged) {
    public Outcomes {
      new Messages.Bits(size, bits); // checks them
      if (unchanged != null) {
        new Messages.Bits(size, unchanged);
      }
      outcomes = outcomes == null ? null : Fields.copied("outcomes", outcomes);
    }

    public static Outcomes of(List<KeyOutcome> all) {
      BitSet done = new BitSet(all.size());
      BitSet unchanged = new BitSet();
      List<Outcome> others = new ArrayList<>();
      for (int i = 0; i < all.size(); i++) {
        done.set(i, all.get(i).isDone());
        unchanged.set(i, all.get(i) == KeyOutcome.UNCHANGED);
        if (!all.get(i).isDone()) {
          others.add(new Outcome(i, all.get(i).code()));
        }
      }
      return new Outcomes(all.size(), done.toByteArray(), others, null, null, null,
          unchanged.isEmpty() ? null : unchanged.toByteArray());
    }

    public static Outcomes of(RemovalCount count) {
      return new Outcomes(0, new byte[0], null, count.removed(), count.leased(), count.notReady(), null);
    }

    /// @throws WireFormatException if these are not outcomes of `keys` keys
    public List<KeyOutcome> outcomes(int keys) {
      BitSet done = new Messages.Bits(size, bits).of(keys).bits();
      List<KeyOutcome> all = new ArrayList<>(Collections.nCopies(keys, KeyOutcome.NOT_FOUND));
      done.stream().forEach(i -> all.set(i, KeyOutcome.OK));
      if (unchanged != null) {
        BitSet same = new Messages.Bits(size, unchanged).of(keys).bits();
        same.and(done);
        same.stream().forEach(i -> all.set(i, KeyOutcome.UNCHANGED));
      }
      for (Outcome outcome : outcomes == null ? List.<Outcome>of() : outcomes) {
        if (outcome.position() < 0 || outcome.position() >= keys || done.get(outcome.position())) {
          throw WireFormatException.request("outcomes.position", "one of " + keys + " whose bit is 0",
              outcome.position());
        }
        all.set(outcome.position(), outcome.outcome());
      }
      return all;
    }

    public RemovalCount count() {
      return new RemovalCount(orNone("removed", removed), orNone("leased", leased), orNone("notReady", notReady));
    }

    private static long orNone(String field, @Nullable Long count) {
      long given = present(field, count);
      if (given < 0) {
        throw WireFormatException.request(field, ">= 0", given);
      }
      return given;
    }
  }

  /// Why the key at `position` was left, as an integer of Mooncake Store.
  record Outcome(int position, int code) {
    KeyOutcome outcome() {
      KeyOutcome known = KeyOutcome.of(code);
      if (known == null || known == KeyOutcome.OK) {
        throw WireFormatException.request("outcomes.code", "one of a key that was left", code);
      }
      return known;
    }
  }
}
