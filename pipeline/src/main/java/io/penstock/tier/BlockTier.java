package io.penstock.tier;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.SliceShape;
import io.penstock.block.session.SessionId;
import io.penstock.block.session.SessionPage;
import io.penstock.block.session.SessionState;
import io.penstock.block.session.SessionUse;
import io.penstock.check.Checks;
import io.penstock.tier.Receipt.Durability;
import io.penstock.tier.TierHolds.HoldLimitException;
import io.penstock.tier.TierHolds.PutTerms;
import io.penstock.tier.TierHolds.UnsupportedHoldsException;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// Stores blocks: in memory, on a disk, at a peer, or in a stack of such tiers.
///
/// Decisions (hit, victim, admission) are made at subscription, in the order of the keys; bytes follow demand. A miss
/// is an absence, never an error. Keys of a request must be distinct and of the tier's space, else
/// `IllegalArgumentException` at call time. Everything is safe from any thread. After [#close()] every call signals
/// [TierClosedException].
public interface BlockTier {
  TierInfo info();

  /// Length of the longest prefix of `keys` that is visible, without counting as a use.
  Mono<Integer> match(List<BlockKey> keys);

  /// Keys of `keys` that are visible, without counting as a use.
  Mono<Presence> contains(List<BlockKey> keys);

  /// Keys of `keys` that are visible and whose bytes promise at least `durability` now, without counting as a use. A
  /// receipt says what was promised when the block was put; this says what is true since: a block in memory may have
  /// been written to a disk, or evicted. A tier without a disk answers no key for more than
  /// [Durability#VOLATILE].
  default Mono<Presence> contains(List<BlockKey> keys, Durability durability) {
    return durability == Durability.VOLATILE
        ? contains(keys)
        : Mono.fromSupplier(() -> Presence.of(keys.size(), new BitSet()));
  }

  /// Levels that the longest visible prefix of `keys` would be read from, without counting as a use: runs of blocks in
  /// key order. Together they are as long as [#match] answers. A tier without this knowledge answers one run.
  default Mono<List<Run>> locate(List<BlockKey> keys) {
    return match(keys).map(found -> found == 0 ? List.of() : List.of(new Run(0, info().name(), found)));
  }

  /// Blocks in a row that are read from the same level.
  ///
  /// @param level 0 for the fastest level of the tier
  /// @param name of the level; unique in its tier
  record Run(int level, String name, int blocks) {
    public Run {
      Checks.notNegative("level", level);
      requireNonNull(name, "name");
      Checks.positive("blocks", blocks);
    }
  }

  /// Decides on `keys` and leases the blocks found. Each found key counts as a use.
  ///
  /// @param onMiss what to do about the missing keys
  /// @param scope owns the lease; cancelling the `Mono` closes it
  /// @return a cold `Mono`; each subscription is one decision
  Mono<Lease> lease(List<BlockKey> keys, OnMiss onMiss, BlockScope scope);

  /// A lease for a session: its blocks are preferred to those of other sessions, as the tier's policy says. A tier that
  /// knows no sessions leases as for none.
  ///
  /// @param session null for none
  default Mono<Lease> lease(List<BlockKey> keys, OnMiss onMiss, @Nullable SessionUse session, BlockScope scope) {
    return lease(keys, onMiss, scope);
  }

  /// The visible blocks of `keys`, if all of them are in host memory now: the decision of a lease with [OnMiss#SKIP]
  /// and its blocks, without a lease. They come without a comparison with their checksums, as those of
  /// [Lease#unverified]: the caller compares them, and leases a block that differs in the usual way.
  ///
  /// @param session of the request; null for none
  /// @return in key order, the caller's to close; null, with nothing decided, if a block would have to be read, or from
  ///     a tier that does not answer so: then lease them
  default @Nullable List<LeasedBlock> tryGet(List<BlockKey> keys, @Nullable SessionUse session) {
    return null;
  }

  /// Leases the visible blocks of `keys` for one who reads them for itself, such as to know what they are. It counts as
  /// no use, and moves no block to a faster level. A tier that cannot do so leases as [#lease] does.
  ///
  /// @param scope owns the lease; cancelling the `Mono` closes it
  default Mono<Lease> peek(List<BlockKey> keys, BlockScope scope) {
    return lease(keys, OnMiss.SKIP, scope);
  }

  /// Says in which state a session is. [SessionState#ACTIVE] also makes a session known, and counts as a use of it.
  ///
  /// @return whether the tier knows the session; false for a tier that knows no sessions, and if there are too many
  default Mono<Boolean> session(SessionUse session, SessionState state) {
    return Mono.just(false);
  }

  /// Keys of the visible blocks of a session, in pages: of those that it was the last to use, and, as far as the tier
  /// remembers them, of those that other sessions have used since. Counts as no use.
  ///
  /// @param after last key of the page before; null for the first page
  /// @param most keys of a page; the first page may have some more
  /// @return empty if the tier does not know the session, or if `after` is not a key of it any more: then begin again
  default Mono<SessionPage> sessionKeys(SessionId session, @Nullable BlockKey after, int most) {
    return Mono.empty();
  }

  /// Length of the longest prefix of `keys` whose blocks are visible or are being written now: at least as long as
  /// [#match] answers, without counting as a use. A tier that does not know what is being written answers as
  /// [#match].
  default Mono<Integer> promised(List<BlockKey> keys) {
    return match(keys);
  }

  /// The visible blocks of `keys`, in key order; misses are left out.
  ///
  /// | | |
  /// |---|---|
  /// | backpressure | blocks; up to `GET_WINDOW` are held ahead of demand |
  /// | cancel | ends the lease; blocks not taken are closed by `scope` |
  ///
  /// @param scope owns the lease and the blocks emitted; the consumer closes each block when done with it
  default Flux<Block> get(List<BlockKey> keys, BlockScope scope) {
    return lease(keys, OnMiss.SKIP, scope).flatMapMany(lease -> lease.windows(GET_WINDOW, scope)
        .concatMapIterable(window -> window, 1).map(LeasedBlock::block).doFinally(end -> lease.close()));
  }

  /// Blocks that [#get] may hold ahead of demand.
  int GET_WINDOW = 16;

  /// Claims room for all of `keys` or for none. Waits in a bounded, fair queue until there is room; a tier may bound
  /// the wait, and then signals [Reservation.RoomTimeoutException].
  ///
  /// @param scope owns the reservation; cancelling the `Mono` leaves the queue
  Mono<Reservation> reserve(List<BlockKey> keys, BlockScope scope);

  /// Reserves room for blocks that get a pin or a group when they become visible. A tier that has none refuses them
  /// with [UnsupportedHoldsException]. Signals [HoldLimitException] if more blocks would be pinned than may be.
  default Mono<Reservation> reserve(List<BlockKey> keys, PutTerms terms, BlockScope scope) {
    if (terms.isPlain()) {
      return reserve(keys, scope);
    }
    throw new UnsupportedHoldsException(info().name(), "keep pins and groups, and replace blocks");
  }

  /// Puts the blocks of `keys`: makes room for one window after the other, has `source` give its slices, verifies them
  /// where they land, commits the window in one step, and answers the receipts.
  ///
  /// | | |
  /// |---|---|
  /// | order | receipts in key order; no receipt for a key that the tier has or that another writer is writing |
  /// | backpressure | receipts: a window begins when the receipts of the window before were taken; |
  /// | | a remote tier sends window after window without a stop |
  /// | cancel | gives back the room of the uncommitted window; windows committed before stay |
  /// | signals | errors of `source` and of the tier; [io.penstock.block.IncompleteBlockException]; |
  /// | | [io.penstock.block.UnexpectedSliceException] |
  ///
  /// @param shape windows and slices at most, from layer 0; a remote tier cuts as its connection was set up
  default Flux<Receipt> put(List<BlockKey> keys, SliceShape shape, PutSource source) {
    return put(keys, PutTerms.plain(), shape, source);
  }

  /// Puts blocks that get a pin or a group when they become visible.
  default Flux<Receipt> put(List<BlockKey> keys, PutTerms terms, SliceShape shape, PutSource source) {
    return new TierPut(this, BlockKey.distinct(keys, info().space().id()), terms, shape.requireWholeBlocks(), source)
        .receipts();
  }

  /// Terms with which the visible blocks of `keys` would have to be put elsewhere to be kept alike there: the pin of a
  /// block, a soft one with the life that is left, its group, and the session that still keeps it. One decision, which
  /// does not count as a use.
  ///
  /// @return terms for each key, in order; [PutTerms#plain()] for a block that nothing keeps, or that is not visible. A
  ///     tier that does not tell, such as a remote one, answers plain terms for all
  default Mono<List<PutTerms>> terms(List<BlockKey> keys) {
    return contains(keys).map(present -> Collections.nCopies(present.size(), PutTerms.plain()));
  }

  /// Removes the visible blocks of `keys` that no read lease holds, and answers which keys these were. Leases of
  /// streams stay valid.
  Mono<Presence> remove(List<BlockKey> keys);

  /// The read leases, pins and removals of `party`. A tier that has none refuses them with
  /// [UnsupportedHoldsException].
  ///
  /// @param party parties that are equal share what one party may lease
  default TierHolds holds(Object party) {
    throw new UnsupportedHoldsException(info().name(), "keep leases");
  }

  /// The events after `sequence`, past and future. Completes when the tier closes.
  ///
  /// A reader that falls behind the bounded log gets one [TierEvent.Skipped] and continues from the oldest event kept.
  Flux<TierEvent> events(long sequence);

  /// The visible blocks with their levels, then the events that follow. Completes when the tier closes.
  ///
  /// The stream begins with [TierEvent.SnapshotStarted]. The snapshot comes in steps as the reader asks, with changes
  /// between them, so it costs little memory however large the tier is. From [TierEvent.SnapshotEnded] on the reader
  /// knows exactly the visible blocks. A reader that falls behind the bounded log gets no [TierEvent.Skipped] but a new
  /// snapshot. [KnownBlocks] keeps what this stream tells.
  Flux<TierEvent> follow();

  Mono<TierStat> stat();

  /// Refuses new work, fails callers that wait, and lets leases end. Completes when done. Lazy and idempotent.
  Mono<Void> close();
}
