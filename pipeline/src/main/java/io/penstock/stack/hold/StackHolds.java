package io.penstock.stack.hold;

import static java.util.Objects.requireNonNull;

import io.penstock.TransientKvException;
import io.penstock.block.BlockKey;
import io.penstock.stack.decision.Decisions;
import io.penstock.stack.decision.DeferredActions;
import io.penstock.stack.decision.Ends;
import io.penstock.stack.decision.Resident;
import io.penstock.stack.decision.StackFigures;
import io.penstock.stack.ledger.StackIndex;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions.HoldOptions;
import io.penstock.stack.shape.StackShape;
import io.penstock.tier.TierHolds.HoldLimitException;
import io.penstock.tier.TierHolds.LeaseExpiredException;
import io.penstock.tier.TierHolds.LeaseTerms;
import io.penstock.tier.TierHolds.Pin;
import io.penstock.tier.TierHolds.PutTerms;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// The read leases, pins and groups of a `TierStack`, their bounds and their ends. Used in decisions only.
///
/// Each decision first ends what has expired ([#expire]), so no timer is needed for the rules to hold.
///
/// Bounds: streams, windows and read leases hold three quarters of the host level at most. With hard pins they hold
/// three quarters of the last level at most. So each level has a block that can leave it.
public final class StackHolds {
  /// Divisor for one party's share of all blocks that may be leased.
  private static final int PARTY = 2;
  /// Divisor for one lease's share of the blocks that may still be leased.
  private static final int PART = 4;
  private final Decisions decisions;
  private final StackShape shape;
  private final StackIndex index;
  private final StackFigures figures;
  private final LongSupplier ids;
  private final Map<Long, HeldLease> leases = new HashMap<>();
  private final Map<Object, HoldParty> parties = new HashMap<>();
  private final Map<String, HoldGroup> groups = new HashMap<>();
  private final HoldParty ofGroups = new HoldParty("groups");
  private final Ends ends;
  /// Blocks that leases of streams, and windows under way, hold.
  private long inStreams;
  /// Pins that blocks being written will get.
  private final long[] promised = new long[Pin.Kind.values().length];

  /// @param nanos clock of all lives
  /// @param ids draws a name for a lease
  public StackHolds(Decisions decisions, StackShape shape, StackIndex index, StackFigures figures, LongSupplier nanos,
      LongSupplier ids) {
    this.decisions = decisions;
    this.shape = shape;
    this.index = index;
    this.figures = figures;
    this.ends = new Ends(nanos);
    this.ids = ids;
  }

  private HoldOptions options() {
    return shape.options().holds();
  }

  // Time

  /// Ends what has expired.
  public void expire(DeferredActions after) {
    ends.run(after);
  }

  /// Runs `end` when its moment has come.
  public void add(Ends.End end) {
    ends.add(end, leases.size() + ofGroups.leases() + figures.pinned(Pin.Kind.SOFT) + figures.reservations()
        + figures.queueWaiters());
  }

  public long now() {
    return ends.now();
  }

  /// The end of a read lease, at which it may turn out to have been renewed.
  private final class LeaseEnd implements Ends.End {
    private final HeldLease lease;
    private final long at;

    LeaseEnd(HeldLease lease) {
      this.lease = lease;
      this.at = lease.end();
    }

    @Override
    public long at() {
      return at;
    }

    @Override
    public boolean isStale() {
      return lease.isOver();
    }

    @Override
    public void come(long now, DeferredActions after) {
      if (lease.isRead()) {
        lease.renew(now);
      }
      if (lease.end() - now > 0) {
        add(new LeaseEnd(lease));
      } else {
        end(lease, after);
      }
    }
  }

  /// The end of a soft pin.
  private record PinEnd(long at, Resident block) implements Ends.End {
    @Override
    public boolean isStale() {
      ResidentHold held = ResidentHold.of(block);
      return held == null || !held.isSoftUntil(at);
    }

    @Override
    public void come(long now, DeferredActions after) {
      unpin(block, after);
    }
  }

  // Bounds

  /// `blocks` more are held by streams and windows, or fewer if negative.
  public void hold(int blocks) {
    inStreams += blocks;
  }

  /// Maximum number of blocks that streams, windows and read leases may hold.
  public long mostLeased() {
    int host = shape.host();
    return host < 0 ? mostHeld() : Math.min(mostHeld(), ownBlocks(host) / 4 * 3);
  }

  /// Maximum number of blocks that streams, windows, read leases and hard pins may hold.
  private long mostHeld() {
    return ownBlocks(shape.last()) / 4 * 3;
  }

  /// Number of blocks of `level` that no other space takes away: of a level that shares memory, the guaranteed part.
  private long ownBlocks(int level) {
    return shape.levels().get(level) instanceof StackLevel.Host host && host.share() != null
        ? host.capacityBlocks() + host.share().guaranteedBytes() / shape.blockBytes()
        : index.capacity(level);
  }

  /// Maximum number of blocks with a pin.
  public long mostPinned() {
    long last = ownBlocks(shape.last());
    return last == Long.MAX_VALUE ? last : (long) (last * options().pinShare());
  }

  /// Number of blocks that streams, windows and read leases may hold in addition; may be negative.
  public long free() {
    long held = inStreams + figures.leased();
    long hard = pinned(Pin.Kind.HARD);
    return Math.min(mostLeased() - held, mostHeld() - held - hard);
  }

  /// Number of read leases that live, without those of groups.
  public int leases() {
    return leases.size();
  }

  // Parties

  public HoldParty enter(Object name) {
    return decisions.answer(after -> {
      HoldParty party = parties.computeIfAbsent(requireNonNull(name, "party"), HoldParty::new);
      party.enter();
      return party;
    });
  }

  /// A handle of `party`, which named `own`, is gone.
  public void leave(HoldParty party, Iterable<Long> own, DeferredActions after) {
    for (long id : own) {
      HeldLease lease = leases.get(id);
      if (lease != null && !lease.survives()) {
        end(lease, after);
      }
    }
    party.leave();
    forget(party);
  }

  private void forget(HoldParty party) {
    if (party.isGone()) {
      parties.remove(party.name(), party);
    }
  }

  // Read leases

  /// Begins a lease that holds nothing yet. No lease may have the id of `terms`.
  ///
  /// @throws HoldLimitException if `party` has too many
  public HeldLease begin(HoldParty party, LeaseTerms terms) {
    decisions.requireOpen();
    if (party.leases() >= options().leasesPerParty()) {
      throw new HoldLimitException("read leases of one party", party.leases() + 1, options().leasesPerParty());
    }
    long id = terms.id() == 0 ? ids.getAsLong() & Long.MAX_VALUE : terms.id();
    while (id == 0 || leases.containsKey(id)) {
      id = ids.getAsLong() & Long.MAX_VALUE;
    }
    HeldLease lease = new HeldLease(id, party, options().lease(terms.life()), terms.survives());
    party.lease(1);
    leases.put(id, lease);
    renew(lease);
    add(new LeaseEnd(lease));
    return lease;
  }

  private void renew(HeldLease lease) {
    lease.renew(ends.now());
  }

  /// Whether `lease` may hold one more block.
  public boolean mayHold(HeldLease lease) {
    long party = lease.party().blocks();
    return lease.size() < Math.ceilDiv(free() + lease.size(), PART) && party < mostLeased() / PARTY;
  }

  /// The live lease `id`, whose life begins again; null if no lease has this id.
  public @Nullable HeldLease again(long id) {
    HeldLease lease = leases.get(id);
    if (lease != null) {
      renew(lease);
    }
    return lease;
  }

  public boolean isLive(long id) {
    return leases.containsKey(id);
  }

  /// Makes `lease` hold `block`, and leases the group of `block`.
  public void hold(HeldLease lease, Resident block, DeferredActions after) {
    if (lease.add(block)) {
      lease.party().hold(1);
    }
    hit(block, after);
  }

  /// The lease `id`, which a read names.
  ///
  /// @throws LeaseExpiredException if no lease has this id
  public HeldLease live(long id) {
    HeldLease lease = leases.get(id);
    if (lease == null) {
      throw new LeaseExpiredException(id);
    }
    return lease;
  }

  public void startRead(HeldLease lease) {
    lease.startRead();
    renew(lease);
  }

  public void endRead(HeldLease lease) {
    lease.endRead();
    if (!lease.isOver()) {
      renew(lease);
    }
  }

  /// Ends the lease `id`; false if no lease has this id.
  public boolean release(long id, DeferredActions after) {
    HeldLease lease = leases.get(id);
    if (lease != null) {
      end(lease, after);
    }
    return lease != null;
  }

  private void end(HeldLease lease, DeferredActions after) {
    leases.remove(lease.id(), lease);
    HoldParty party = lease.party();
    party.hold(-lease.size());
    party.lease(-1);
    lease.end(after);
    forget(party);
  }

  // Groups

  /// Enters `block` in the group `name`, for as long as the ledger has it.
  private void join(Resident block, String name) {
    groups.computeIfAbsent(name, any -> new HoldGroup(name, groups)).join(block);
  }

  /// `block` was hit: leases its group, as far as leases may hold more, if less than half of the life of that lease is
  /// left.
  public void hit(Resident block, DeferredActions after) {
    ResidentHold held = ResidentHold.of(block);
    HoldGroup group = held == null ? null : held.group();
    if (group == null) {
      return;
    }
    Duration life = options().leaseLife();
    HeldLease lease = group.lease();
    long now = ends.now();
    if (lease != null && lease.end() - now >= life.toNanos() / 2) {
      return;
    }
    if (lease == null) {
      lease = new HeldLease(0, ofGroups, life, true);
      ofGroups.lease(1);
      group.leaseWith(lease);
      lease.renew(now);
      add(new LeaseEnd(lease));
    }
    lease.renew(now);
    for (Resident member : new ArrayList<>(group.members())) {
      if (free() > 0 && lease.add(member)) {
        ofGroups.hold(1);
      }
    }
  }

  // Pins

  /// Pins `blocks`, or none of them, or ends their pins.
  ///
  /// @throws HoldLimitException if more blocks would be pinned than may be
  public void pin(List<Resident> blocks, Pin pin, DeferredActions after) {
    if (pin.kind() == Pin.Kind.NONE) {
      blocks.forEach(block -> unpin(block, after));
      return;
    }
    requirePinnable(blocks, pin.kind());
    blocks.forEach(block -> pin(block, pin));
  }

  private void pin(Resident block, Pin pin) {
    long end = ends.now() + options().softPin(pin.life()).toNanos();
    ResidentHold.addTo(block).pin(pin.kind(), end);
    if (pin.kind() == Pin.Kind.SOFT) {
      add(new PinEnd(end, block));
    }
  }

  private void requirePinnable(List<Resident> blocks, Pin.Kind kind) {
    requirePinnable(blocks.stream().filter(block -> pinOf(block) == Pin.Kind.NONE).count(),
        kind == Pin.Kind.HARD ? blocks.stream().filter(block -> pinOf(block) != Pin.Kind.HARD).count() : 0);
  }

  /// @param fresh blocks that have no pin yet
  /// @param hard blocks that have no hard pin yet, and get one
  private void requirePinnable(long fresh, long hard) {
    long wanted = pinned(Pin.Kind.SOFT) + pinned(Pin.Kind.HARD) + fresh;
    if (fresh > 0 && wanted > mostPinned()) {
      throw new HoldLimitException("pinned blocks", wanted, mostPinned());
    }
    long most = Math.max(0, mostHeld() - inStreams - figures.leased());
    if (hard > 0 && pinned(Pin.Kind.HARD) + hard > most) {
      throw new HoldLimitException("hard-pinned blocks beside leased blocks", pinned(Pin.Kind.HARD) + hard, most);
    }
  }

  private long pinned(Pin.Kind kind) {
    return figures.pinned(kind) + promised[kind.ordinal()];
  }

  /// Counts the pins of `blocks` that will be written.
  ///
  /// @throws HoldLimitException if more blocks would be pinned than may be
  public void promisePins(int blocks, PutTerms terms) {
    Pin.Kind kind = requireNonNull(terms.pin()).kind();
    requirePinnable(blocks, kind == Pin.Kind.HARD ? blocks : 0);
    promised[kind.ordinal()] += blocks;
  }

  public void unpromisePins(int blocks, PutTerms terms) {
    if (blocks > 0) {
      promised[requireNonNull(terms.pin()).kind().ordinal()] -= blocks;
    }
  }

  /// Refuses the blocks of `keys` as members of the group `name`, if it would have too many then. Members that are
  /// replaced count once.
  public void requireGroup(List<BlockKey> keys, String name, DeferredActions after) {
    HoldGroup group = groups.get(name);
    long wanted = keys.size();
    if (group != null) {
      Set<Resident> members = group.members();
      wanted = members.size() + keys.stream().filter(key -> !(index.find(key, after) instanceof Resident block
          && members.contains(block))).count();
    }
    if (wanted > HoldGroup.MOST_BLOCKS) {
      throw new HoldLimitException("blocks of group " + name, wanted, HoldGroup.MOST_BLOCKS);
    }
  }

  /// `block` was written under `terms`.
  public void written(Resident block, PutTerms terms, DeferredActions after) {
    Pin pin = terms.pin();
    if (pin != null && pin.kind() == Pin.Kind.NONE) {
      unpin(block, after);
    } else if (pin != null) {
      pin(block, pin);
    }
    ResidentHold held = ResidentHold.of(block);
    if (!terms.group().isEmpty() && (held == null || held.group() == null)) {
      join(block, terms.group());
    }
  }

  /// Terms of a put that would pin and group another block as `block`. Changes nothing: a soft pin whose life is over
  /// counts as none.
  ///
  /// @param block null for one of which the ledger keeps only a number
  public PutTerms terms(@Nullable Resident block) {
    ResidentHold held = block == null ? null : ResidentHold.of(block);
    if (held == null) {
      return PutTerms.plain();
    }
    HoldGroup group = held.group();
    PutTerms terms = PutTerms.plain().withGroup(group == null ? "" : group.name());
    return switch (held.pin()) {
      case NONE -> terms;
      case HARD -> terms.withPin(Pin.hard());
      case SOFT -> {
        long left = held.pinEnd() - ends.now();
        yield left <= 0 ? terms : terms.withPin(Pin.soft(Duration.ofNanos(left)));
      }
    };
  }

  /// `fresh` takes the place of `old`: its leases, its pin and its group go with it.
  public void replace(Resident old, Resident fresh) {
    ResidentHold held = ResidentHold.move(old, fresh);
    if (held == null) {
      return;
    }
    if (held.isLeased()) {
      leases.values().forEach(lease -> lease.replace(old, fresh));
    }
    HoldGroup group = held.group();
    if (group != null) {
      group.replace(old, fresh);
    }
    if (held.pin() == Pin.Kind.SOFT) {
      add(new PinEnd(held.pinEnd(), fresh));
    }
  }

  /// Whether `block` has a pin that has not ended.
  public static boolean isPinned(Resident block) {
    return pinOf(block) != Pin.Kind.NONE;
  }

  private static Pin.Kind pinOf(Resident block) {
    ResidentHold held = ResidentHold.of(block);
    return held == null ? Pin.Kind.NONE : held.pin();
  }

  private static void unpin(Resident block, DeferredActions after) {
    ResidentHold held = ResidentHold.of(block);
    if (held != null && held.pin() != Pin.Kind.NONE) {
      held.pin(Pin.Kind.NONE, 0);
      block.holdEnded(after);
    }
  }
}
