package io.penstock.tier.spi;

import io.penstock.block.BlockArena;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.Permits;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/// A claim on an arena as a `Mono`, made at the first request of its subscriber.
final class ClaimedDrafts {
  private final MonoSink<List<BlockDraft>> sink;
  private final BlockScope scope;
  private final AtomicBoolean isAsked = new AtomicBoolean();
  private final AtomicBoolean isOver = new AtomicBoolean();

  private ClaimedDrafts(MonoSink<List<BlockDraft>> sink, BlockScope scope) {
    this.sink = sink;
    this.scope = scope;
  }

  /// Drafts for `keys`, all of them or none; cancelling leaves the queue.
  ///
  /// @param scope owns the drafts from the moment they are granted
  static Mono<List<BlockDraft>> of(BlockArena arena, List<BlockKey> keys, BlockScope scope) {
    return Mono.create(sink -> {
      ClaimedDrafts claim = new ClaimedDrafts(sink, scope);
      sink.onRequest(n -> claim.ask(arena, keys));
    });
  }

  /// Claims once: a `MonoSink` reports every request, and operators repeat requests.
  private void ask(BlockArena arena, List<BlockKey> keys) {
    if (isAsked.compareAndSet(false, true)) {
      try {
        Permits.Ticket ticket = arena.claim(keys, this::granted, sink::error);
        sink.onCancel(() -> {
          if (isOver.compareAndSet(false, true)) {
            ticket.cancel();
          }
        });
      } catch (RuntimeException e) {
        sink.error(e);
      }
    }
  }

  private void granted(List<BlockDraft> drafts) {
    if (isOver.compareAndSet(false, true)) {
      drafts.forEach(scope::adopt);
      sink.success(drafts);
    } else { // cancelled while the grant was on its way
      drafts.forEach(BlockDraft::close);
    }
  }
}
