package io.penstock.flow;

import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.GranuleRange;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierHolds.PutTerms;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// Writes one value: its parts window by window, then its head. Holds the room of one window at a time, so that puts
/// that wait for room never wait for each other. Used by one subscription, one signal at a time.
final class ValueWriter {
  private final BlockTier tier;
  private final ValueHead head;
  private final BlockKey headKey;
  private final int windowParts;
  private final Mono<Void> before;
  private final @Nullable Mono<Void> last;
  private final PutTerms headTerms;
  private final GranuleRange all;
  private final List<BlockKey> committed = new ArrayList<>();
  private @Nullable BlockScope scope;
  private @Nullable Reservation window;
  private List<BlockDraft> drafts = List.of();
  private int draft;
  private long inDraft;
  private int part;
  private long written;
  private BlockDraft.@Nullable Span filling;
  private boolean visible;
  /// Whether the tier has the head, or another writer writes it.
  private boolean isLate;

  /// @param before run just before the head is reserved
  /// @param last run when all bytes have come, just before the head is committed; null for nothing
  /// @param headTerms of the head
  ValueWriter(BlockTier tier, ValueHead head, int windowParts, Mono<Void> before, @Nullable Mono<Void> last,
      PutTerms headTerms) {
    this.before = before;
    this.last = last;
    this.headTerms = headTerms;
    this.tier = tier;
    this.head = head;
    this.headKey = head.key();
    this.windowParts = windowParts;
    this.all = GranuleRange.all(head.space().layout());
  }

  /// @return whether the head was committed
  Mono<Boolean> write(Flux<MemorySegment> bytes) {
    return bytes.concatMap(this::append, 0).then(Mono.defer(this::finish));
  }

  /// Has `bytes` fill the memory of the parts, one after the other.
  ///
  /// @return whether the head was committed
  Mono<Boolean> fill(ValueStore.Filling bytes) {
    int pieces = head.parts() + (head.tailBytes() > 0 ? 1 : 0);
    Mono<Void> filled = pieces == 1
        ? fillNext(bytes) // a short value takes no loop
        : Flux.range(0, pieces).takeWhile(piece -> !isLate).concatMap(piece -> fillNext(bytes), 1).then();
    return filled.then(Mono.defer(() -> isLate ? Mono.just(false) : commit().then(Mono.defer(this::finish))));
  }

  private Mono<Void> fillNext(ValueStore.Filling bytes) {
    Mono<Void> filled = Mono.defer(() -> isLate ? Mono.empty() : fillDraft(bytes));
    return draft < drafts.size()
        ? filled
        : commit().then(Mono.defer(this::reserve)).then(filled);
  }

  private Mono<Void> fillDraft(ValueStore.Filling bytes) {
    boolean isHead = part == head.parts();
    int start = isHead ? head.tailOffset() : 0;
    int most = isHead ? head.tailBytes() : head.bytesOfPart(part);
    BlockDraft.Span into = drafts.get(draft).writing(all);
    filling = into;
    MemorySegment memory = into.memory();
    boolean isLast = isHead || (part == head.parts() - 1 && head.tailBytes() == 0);
    Mono<Void> filled = isLast
        ? ValueStore.fillLast(bytes, memory, start, start + most)
        : bytes.fill(memory.asSlice(start, most));
    return filled.then(Mono.fromRunnable(() -> {
      if (!isHead) {
        memory.asSlice(most).fill((byte) 0); // the slot may have bytes of another value
      }
      into.close();
      written += most;
      next();
    }));
  }

  private void next() {
    drafts.get(draft).produced(all);
    draft++;
    part++;
    inDraft = 0;
  }

  private Mono<Void> append(MemorySegment bytes) {
    if (bytes.byteSize() > head.length() - written) {
      return Mono.error(() -> wrongLength("at least " + (written + bytes.byteSize())));
    }
    return appendRest(bytes);
  }

  /// Copies up to the end of the window, and continues when there is room for the next.
  private Mono<Void> appendRest(MemorySegment bytes) {
    if (isLate) {
      written += bytes.byteSize();
      return Mono.empty();
    }
    long at = 0;
    while (at < bytes.byteSize() && draft < drafts.size()) {
      at += fill(bytes.asSlice(at));
    }
    MemorySegment rest = bytes.asSlice(at);
    if (draft < drafts.size() || (rest.byteSize() == 0 && drafts.isEmpty())) {
      return Mono.empty();
    }
    Mono<Void> next = commit();
    return rest.byteSize() == 0 ? next : next.then(Mono.defer(this::reserve)).then(Mono.defer(() -> appendRest(rest)));
  }

  private long fill(MemorySegment bytes) {
    boolean isHead = part == head.parts();
    int start = isHead ? head.tailOffset() : 0;
    int most = isHead ? head.tailBytes() : head.bytesOfPart(part);
    BlockDraft into = drafts.get(draft);
    long[] copied = new long[1];
    into.write(all, memory -> {
      copied[0] = ValueHead.copy(bytes, memory.asSlice(0, start + most), start + inDraft);
      if (inDraft + copied[0] == most && !isHead) {
        memory.asSlice(most).fill((byte) 0); // the slot may have bytes of another value
      }
    });
    inDraft += copied[0];
    written += copied[0];
    if (inDraft == most) {
      next();
    }
    return copied[0];
  }

  private Mono<Void> reserve() {
    boolean isHead = part == head.parts();
    List<BlockKey> keys = isHead ? List.of(headKey) : partKeys();
    BlockScope opened = new BlockScope();
    scope = opened;
    return (isHead ? before.then(tier.reserve(keys, headTerms, opened)) : tier.reserve(keys, opened)).doOnNext(room -> {
      window = room;
      drafts = room.drafts();
      draft = 0;
      isLate = isHead && drafts.isEmpty();
      if (isHead && !isLate) {
        drafts.getFirst().write(all, head::write);
      }
    }).then();
  }

  private List<BlockKey> partKeys() {
    return head.partKeys(part, Math.min(head.parts() - part, windowParts));
  }

  private Mono<Void> commit() {
    Reservation room = window;
    if (room == null || drafts.isEmpty() || drafts.getFirst().key().equals(headKey)) {
      return Mono.empty();
    }
    List<BlockDraft> complete = drafts;
    return room.commit(complete).doOnNext(receipts -> receipts.forEach(receipt -> committed.add(receipt.key())))
        .then(Mono.fromRunnable(this::leave));
  }

  private void leave() {
    BlockDraft.Span open = filling;
    if (open != null) {
      filling = null;
      open.close();
    }
    drafts = List.of();
    window = null;
    BlockScope held = scope;
    if (held != null) {
      held.close();
    }
  }

  /// The head is reserved by now if it has bytes of the value.
  private Mono<Boolean> finish() {
    if (written != head.length()) {
      return Mono.error(() -> wrongLength("" + written));
    }
    return (head.tailBytes() > 0 ? Mono.<Void>empty() : reserve()).then(Mono.defer(() -> {
      Reservation room = window;
      if (room == null || drafts.isEmpty()) {
        return Mono.just(false);
      }
      if (head.tailBytes() == 0) {
        drafts.getFirst().produced(all);
      }
      Mono<Boolean> commit = room.commit(drafts).map(receipts -> visible = !receipts.isEmpty());
      return last == null ? commit : last.then(commit);
    }));
  }

  private IllegalArgumentException wrongLength(String came) {
    return new IllegalArgumentException(
        "bytes must be as many as the length, " + head.length() + " (was " + came + ")");
  }

  /// Gives up the window under way, and removes the parts if the value did not become visible.
  Mono<Void> end() {
    return Mono.defer(() -> {
      leave();
      return visible || committed.isEmpty() ? Mono.empty() : tier.remove(committed).then();
    });
  }
}
