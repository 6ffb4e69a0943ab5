package io.penstock.tier;

import static java.util.Objects.requireNonNull;

import io.penstock.PermanentKvException;
import io.penstock.TransientKvException;
import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.Owned;
import io.penstock.block.session.SessionUse;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// The read leases, pins and removals of one party at a tier, such as one connection. [#close()] ends the leases of
/// this party that do not survive it; pins stay.
///
/// Keys of a request must be distinct and of the tier's space, else `IllegalArgumentException` at call time. Each
/// `Mono` is cold, and each subscription one decision. Safe from any thread.
public abstract class TierHolds extends Owned {
  /// Finds the visible blocks of `keys` and leases them: they are not evicted while the lease lives. Counts no use.
  ///
  /// Leases of a tier hold a bounded part of its blocks, and one party a part of that; a lease holds the first blocks
  /// found as far as that goes. Signals [HoldLimitException] if the party has too many leases, and
  /// `IllegalArgumentException` if the life is too long.
  public abstract Mono<ReadLease> lease(List<BlockKey> keys, LeaseTerms terms);

  /// Ends the lease `id`; false if it has ended before.
  public abstract Mono<Boolean> release(long id);

  /// Decides on `keys` as [BlockTier#lease] with [OnMiss#SKIP], under the read lease `id`: the blocks that it holds are
  /// there. The lease does not expire while this read goes on, and its life begins again at the end. It is checked
  /// before each slice and after each window.
  ///
  /// Signals [LeaseExpiredException], also in the windows.
  ///
  /// @param scope owns the answer; cancelling the `Mono` closes it
  public abstract Mono<Lease> read(long id, List<BlockKey> keys, BlockScope scope);

  /// Pins the visible blocks of `keys`, or ends their pins. Signals [HoldLimitException], and has pinned nothing, if
  /// more blocks would be pinned than may be.
  ///
  /// @return an outcome for each key, in order; [KeyOutcome#UNCHANGED] for a block without a pin, when pins are to end:
  ///     it never had one, or its soft pin has expired
  public abstract Mono<List<KeyOutcome>> pin(List<BlockKey> keys, Pin pin);

  /// Removes the visible blocks of `keys`.
  ///
  /// @param force whether to remove blocks that read leases hold, too
  /// @return an outcome for each key, in order
  public abstract Mono<List<KeyOutcome>> remove(List<BlockKey> keys, boolean force);

  /// Removes every block that is visible now and whose key `which` takes, step by step: each request is one short step
  /// over some of the keys, on the requesting thread.
  ///
  /// @param force whether to remove blocks that read leases hold, too
  /// @return the counts of the steps, to be added up
  public abstract Flux<RemovalCount> remove(KeyFilter which, boolean force);

  /// Terms of a read lease.
  ///
  /// @param life duration of the lease unless a reader renews it; zero for the tier's default
  /// @param prefixOnly whether to lease the longest prefix alone, and not the found blocks behind a miss
  /// @param survives whether it outlives the connection that asked for it; then its life ends it
  /// @param prefetch whether the leased blocks that are on a slower level are read to memory at once, as far as slots
  ///     for windows are free; the life of the lease begins when they have been read
  /// @param id that the lease is to have, so that leases at several tiers have one name; 0 for the tier to draw one.
  ///     Who knows it may read under the lease, so it must be hard to guess. A live lease of this id keeps its terms,
  ///     begins its life again and holds the found blocks, too
  public record LeaseTerms(Duration life, boolean prefixOnly, boolean survives, boolean prefetch, long id) {
    public LeaseTerms {
      if (life.isNegative()) {
        throw new IllegalArgumentException("life must be >= 0 (was " + life + ")");
      } else if (id < 0) {
        throw new IllegalArgumentException("id must be >= 0 (was " + id + ")");
      }
    }

    public LeaseTerms(Duration life, boolean prefixOnly, boolean survives, boolean prefetch) {
      this(life, prefixOnly, survives, prefetch, 0);
    }

    /// The tier's default life, the longest prefix, and an end with the connection.
    public static LeaseTerms defaults() {
      return new LeaseTerms(Duration.ZERO, true, false, false);
    }

    public LeaseTerms withLife(Duration life) {
      return new LeaseTerms(life, prefixOnly, survives, prefetch, id);
    }

    public LeaseTerms withPrefixOnly(boolean prefixOnly) {
      return new LeaseTerms(life, prefixOnly, survives, prefetch, id);
    }

    public LeaseTerms withSurvives(boolean survives) {
      return new LeaseTerms(life, prefixOnly, survives, prefetch, id);
    }

    public LeaseTerms withPrefetch(boolean prefetch) {
      return new LeaseTerms(life, prefixOnly, survives, prefetch, id);
    }

    public LeaseTerms withId(long id) {
      return new LeaseTerms(life, prefixOnly, survives, prefetch, id);
    }
  }

  /// The outcome of a look-up that leases found blocks: a later read names `id`. The leased blocks are not evicted
  /// until then.
  ///
  /// @param id names the lease; 0 if nothing was leased. A caller that knows it may read under it
  /// @param found keys whose block was visible; with [LeaseTerms#prefixOnly()] only the longest prefix
  /// @param leased those of `found` that the lease holds; fewer than found if the bound on leased blocks was reached
  /// @param life from the look-up, or from the end of the last read that named it
  public record ReadLease(long id, Presence found, Presence leased, Duration life) {
    public ReadLease {
      requireNonNull(found, "found");
      requireNonNull(leased, "leased");
      requireNonNull(life, "life");
    }
  }

  /// A pin keeps a visible block from eviction, whether it is read or not. A pinned block can be removed.
  ///
  /// @param life of a soft pin, from the moment it is set, or from the commit; reads do not renew it. Zero for the
  ///     tier's default
  public record Pin(Kind kind, Duration life) {
    public Pin {
      requireNonNull(kind, "kind");
      if (life.isNegative() || (!life.isZero() && kind != Kind.SOFT)) {
        throw new IllegalArgumentException("life must be >= 0, and 0 unless the pin is soft (was " + life + ")");
      }
    }

    /// Strength of a pin.
    public enum Kind {
      /// No pin.
      NONE,
      /// The block is evicted only when no other block can be. Ends with its life.
      SOFT,
      /// The block is never evicted.
      HARD
    }

    /// Ends the pin that a block has.
    public static Pin none() {
      return new Pin(Kind.NONE, Duration.ZERO);
    }

    /// @param life zero for the tier's default
    public static Pin soft(Duration life) {
      return new Pin(Kind.SOFT, life);
    }

    public static Pin hard() {
      return new Pin(Kind.HARD, Duration.ZERO);
    }
  }

  /// The token ids of one block and the block before it. They change nothing about the block: a node repeats them in
  /// the events that it publishes, for routers that place blocks by their tokens.
  ///
  /// @param parent hash of the block before it; [BlockHash#ROOT] for the first block of a prompt
  /// @param ids in order, never changed again
  public record BlockTokens(BlockHash parent, int[] ids) {
    public BlockTokens {
      requireNonNull(parent, "parent");
      if (ids.length == 0) {
        throw new IllegalArgumentException("ids must be >= 1 (was 0)");
      }
    }

    /// The tokens of `keys`, which are consecutive blocks of one prompt, with equally many tokens each.
    ///
    /// @param before hash of the block before the first of `keys`; [BlockHash#ROOT] for none
    /// @param ids of all blocks, in order
    public static Map<BlockKey, BlockTokens> of(BlockHash before, List<BlockKey> keys, int[] ids) {
      if (keys.isEmpty() || ids.length == 0 || ids.length % keys.size() != 0) {
        throw new IllegalArgumentException(
            "ids must be equally many for each of " + keys.size() + " keys (was " + ids.length + ")");
      }
      int each = ids.length / keys.size();
      Map<BlockKey, BlockTokens> tokens = new LinkedHashMap<>();
      BlockHash parent = before;
      for (int i = 0; i < keys.size(); i++) {
        tokens.put(keys.get(i), new BlockTokens(parent, Arrays.copyOfRange(ids, i * each, (i + 1) * each)));
        parent = keys.get(i).hash();
      }
      return tokens;
    }
  }

  /// Terms of a put for its blocks.
  ///
  /// @param pin set when a block becomes visible; null to keep the pin that it has, which is none for a new block
  /// @param group of all blocks of this put, for as long as they are visible; empty for none. A hit on one leases all
  /// @param upserts whether to replace visible blocks: readers, and later ones until the commit, get the old bytes.
  ///     Pins, leases and groups of the old blocks stay
  /// @param tokens token ids of every key of the put, for the events of the node; empty for none. A tier that publishes
  ///     no tokens ignores them
  /// @param session of the request; null for none. A tier that knows no sessions ignores it
  public record PutTerms(@Nullable Pin pin, String group, boolean upserts, Map<BlockKey, BlockTokens> tokens,
      @Nullable SessionUse session) {
    private static final PutTerms PLAIN = new PutTerms(null, "", false, Map.of(), null);

    public PutTerms {
      requireNonNull(group, "group");
      requireNonNull(tokens, "tokens");
    }

    public PutTerms(@Nullable Pin pin, String group, boolean upserts, Map<BlockKey, BlockTokens> tokens) {
      this(pin, group, upserts, tokens, null);
    }

    /// No pin and no group.
    public static PutTerms plain() {
      return PLAIN;
    }

    public PutTerms withSession(@Nullable SessionUse session) {
      return new PutTerms(pin, group, upserts, tokens, session);
    }

    public PutTerms withPin(@Nullable Pin pin) {
      return new PutTerms(pin, group, upserts, tokens, session);
    }

    public PutTerms withGroup(String group) {
      return new PutTerms(pin, group, upserts, tokens, session);
    }

    public PutTerms withUpserts(boolean upserts) {
      return new PutTerms(pin, group, upserts, tokens, session);
    }

    public PutTerms withTokens(Map<BlockKey, BlockTokens> tokens) {
      return new PutTerms(pin, group, upserts, tokens, session);
    }

    /// Whether they ask the tier for nothing. Tokens and sessions ask for nothing.
    public boolean isPlain() {
      return pin == null && group.isEmpty() && !upserts;
    }

    /// Whether new blocks get a pin.
    public boolean pins() {
      return pin != null && pin.kind() != Pin.Kind.NONE;
    }
  }

  /// Outcome of one key of a request for many, independent of the others. Its number is that of Mooncake Store.
  public enum KeyOutcome {
    /// Done.
    OK(0),
    /// There was nothing to do: the block had no pin that could end. Mooncake Store has no number for it but that of
    /// success.
    UNCHANGED(0),
    /// The block is being written.
    NOT_READY(-703),
    /// The block is not visible.
    NOT_FOUND(-704),
    /// A read lease holds the block.
    LEASED(-706);

    private final int code;

    KeyOutcome(int code) {
      this.code = code;
    }

    /// The number on the wire.
    public int code() {
      return code;
    }

    /// Whether the block is as was asked.
    public boolean isDone() {
      return code == 0;
    }

    /// The outcome of a number on the wire, without [#UNCHANGED]; null if there is none here.
    public static @Nullable KeyOutcome of(int code) {
      for (KeyOutcome outcome : values()) {
        if (outcome.code == code) {
          return outcome;
        }
      }
      return null;
    }
  }

  /// Chooses the keys of a removal.
  ///
  /// @param pattern the choice in words that travel to a remote tier; null for all keys
  /// @param test called outside every lock, with each key that is visible
  public record KeyFilter(@Nullable String pattern, Predicate<BlockKey> test) {
    private static final KeyFilter ALL = new KeyFilter(null, key -> true);

    public KeyFilter {
      requireNonNull(test, "test");
    }

    /// Every key.
    public static KeyFilter all() {
      return ALL;
    }
  }

  /// Result of a removal of the keys that a [KeyFilter] takes.
  ///
  /// @param removed blocks that it removed, each with an event
  /// @param leased blocks that it left because a read lease holds them
  /// @param notReady keys that it left because they are being written
  public record RemovalCount(long removed, long leased, long notReady) {
    /// Result for no key.
    public static final RemovalCount NONE = new RemovalCount(0, 0, 0);

    public RemovalCount plus(RemovalCount more) {
      return new RemovalCount(removed + more.removed, leased + more.leased, notReady + more.notReady);
    }

    public RemovalCount and(KeyOutcome outcome) {
      return switch (outcome) {
        case OK -> new RemovalCount(removed + 1, leased, notReady);
        case LEASED -> new RemovalCount(removed, leased + 1, notReady);
        case NOT_READY -> new RemovalCount(removed, leased, notReady + 1);
        case NOT_FOUND, UNCHANGED -> this;
      };
    }
  }

  /// No read lease has this id: it is wrong, or the lease has ended. Look the keys up again.
  public static final class LeaseExpiredException extends PermanentKvException {
    private final long id;

    public LeaseExpiredException(long id) {
      super("lease must be live to be read (was " + id + ", which has ended or never was)");
      this.id = id;
    }

    /// Id that the reader named.
    public long id() {
      return id;
    }
  }

  /// The tier lacks an operation beyond keeping blocks.
  public static final class UnsupportedHoldsException extends PermanentKvException {
    private final String tier;

    /// @param what operation that it lacks
    public UnsupportedHoldsException(String tier, String what) {
      super("tier " + tier + " must be able to " + what + " (was not)");
      this.tier = requireNonNull(tier, "tier");
    }

    public String tier() {
      return tier;
    }
  }

  /// Leases or pins would exceed their bound. A retry can succeed when others have ended.
  public static final class HoldLimitException extends TransientKvException {
    private final String what;
    private final long wanted;
    private final long most;

    /// @param what is bounded
    /// @param wanted resulting number
    /// @param most maximum number
    public HoldLimitException(String what, long wanted, long most) {
      super(what + " must be <= " + most + " (was " + wanted + ")");
      this.what = requireNonNull(what, "what");
      this.wanted = wanted;
      this.most = most;
    }

    public String what() {
      return what;
    }

    public long wanted() {
      return wanted;
    }

    public long most() {
      return most;
    }
  }
}
