package io.penstock.wire.client;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.SliceShape;
import io.penstock.budget.Permits;
import io.penstock.tier.Presence;
import io.penstock.tier.PutSource;
import io.penstock.tier.Receipt;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierHolds.PutTerms;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// Drafts in the client's arena whose commit is a `put`.
final class RemoteReservation extends Reservation {
  private final KvClient client;
  private final List<BlockDraft> drafts;
  private final PutTerms terms;
  private final Presence skipped;
  private final Map<BlockKey, Receipt> committed = new ConcurrentHashMap<>();

  private RemoteReservation(KvClient client, List<BlockDraft> drafts, PutTerms terms, Presence skipped) {
    this.terms = terms;
    this.client = client;
    this.drafts = List.copyOf(drafts);
    this.skipped = skipped;
  }

  static Mono<Reservation> claim(KvClient client, List<BlockKey> wanted, PutTerms terms, Presence skipped,
      BlockScope scope) {
    if (wanted.isEmpty()) {
      return Mono.fromSupplier(() -> scope.adopt(new RemoteReservation(client, List.of(), terms, skipped)));
    }
    return Mono.create(sink -> {
      Permits.Ticket ticket = client.arena().claim(wanted,
          drafts -> sink.success(scope.adopt(new RemoteReservation(client, drafts, terms, skipped))), sink::error);
      sink.onCancel(ticket::cancel);
    });
  }

  @Override
  public List<BlockDraft> drafts() {
    return drafts;
  }

  @Override
  public Presence skipped() {
    return skipped;
  }

  /// The node may have received a block from another writer in the meantime: then no receipt comes for it, and the
  /// answer is shorter.
  @Override
  public Mono<List<Receipt>> commit(List<BlockDraft> complete) {
    return Mono.defer(() -> {
      boolean before = !complete.isEmpty() && !isClosed() && drafts.containsAll(complete)
          && complete.stream().allMatch(draft -> committed.containsKey(draft.key()));
      return before
          ? Mono.just(complete.stream().map(draft -> requireNonNull(committed.get(draft.key()))).toList())
          : commitNow(complete);
    });
  }

  private Mono<List<Receipt>> commitNow(List<BlockDraft> complete) {
    return Flux.using(BlockScope::new, scope -> {
      requireMine(complete);
      complete.forEach(BlockDraft::requireComplete);
      List<Block> blocks = complete.stream().map(draft -> scope.adopt(draft.seal())).toList();
      List<BlockKey> keys = blocks.stream().map(Block::key).toList();
      return client.put(keys, terms, PutSource.of(blocks, SliceShape.Order.LAYER_FIRST));
    }, BlockScope::close).doOnNext(receipt -> committed.put(receipt.key(), receipt)).collectList();
  }

  private void requireMine(List<BlockDraft> complete) {
    if (isClosed()) {
      throw new IllegalStateException("reservation must be open (was closed)");
    }
    if (!new HashSet<>(drafts).containsAll(complete)) {
      throw new IllegalArgumentException("drafts must be of this reservation (was another's)");
    }
  }

  @Override
  protected void free() {
    drafts.forEach(BlockDraft::close);
  }
}
