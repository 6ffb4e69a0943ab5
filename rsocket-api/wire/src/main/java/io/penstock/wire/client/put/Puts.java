package io.penstock.wire.client.put;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.operator.InTurn;
import io.penstock.tier.PutSource;
import io.penstock.tier.Receipt;
import io.penstock.tier.TierHolds.PutTerms;
import io.penstock.wire.client.link.NodeConnection;
import io.penstock.wire.protocol.Messages;
import io.penstock.wire.protocol.PutMessages;
import io.penstock.wire.protocol.Routes;
import io.penstock.wire.report.StreamClock;
import io.penstock.wire.slice.SliceFraming;
import io.penstock.wire.trace.TraceContext;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;

/// The puts of one connection of a client.
///
/// @param framing of slices; counts the bytes of all puts
/// @param windowBlocks most blocks of a window
/// @param maxKeys maximum number of keys of a request that the node takes
/// @param tickets of the connection
public record Puts(NodeConnection connection, SliceFraming framing, int windowBlocks, int maxKeys, AtomicLong tickets) {
  public Flux<Receipt> put(List<BlockKey> keys, PutTerms terms, PutSource source) {
    List<BlockKey> asked = BlockKey.distinct(keys, framing.space());
    PutMessages.Tokens tokens = PutMessages.Tokens.of(asked, terms.tokens(), maxKeys);
    int blocks = Math.clamp(asked.size(), 1, windowBlocks);
    return Flux.using(BlockScope::new,
        scope -> InTurn.of(source.begin(blocks, scope),
            Flux.defer(() -> sent(asked, terms, tokens, source, new AtomicBoolean()))),
        BlockScope::close);
  }

  /// @param begun set when the node has said anything but a refusal
  private Flux<Receipt> sent(List<BlockKey> asked, PutTerms terms, PutMessages.@Nullable Tokens tokens,
      PutSource source,
      AtomicBoolean begun) {
    return connection.transport().turns().retried(Flux.deferContextual(context -> {
      PutMessages.PutRequest open = PutMessages.PutRequest.of(Messages.Keys.of(framing.space(), asked),
          framing.maxSliceBytes(), windowBlocks, tickets.incrementAndGet(), terms, tokens);
      TraceContext trace = TraceContext.of(context);
      StreamClock clock = connection.clock(Routes.PUT, true, framing.carried(), trace);
      return clock.over(new PutSender(source, asked, open, begun).over(connection, framing.counted(clock), trace));
    }), () -> !begun.get());
  }
}
