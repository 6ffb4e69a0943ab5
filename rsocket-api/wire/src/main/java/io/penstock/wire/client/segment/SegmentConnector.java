package io.penstock.wire.client.segment;

import static java.util.Objects.requireNonNull;

import io.penstock.tier.ByteBudget;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.client.link.NodeConnection;
import io.penstock.wire.credit.BudgetLane;
import io.penstock.wire.credit.NodeBudget;
import io.penstock.wire.segment.StagingSlots;
import io.penstock.wire.transfer.SegmentLink;
import io.rsocket.transport.ClientTransport;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import reactor.core.publisher.Mono;

/// Connects a transfer engine to its peers over RSocket.
///
/// Bytes in flight, both ways and over all peers, are in the one budget given. A peer takes more of it only while as
/// much is free as it has already, and never more than its send window on the way out: so a slow one leaves room.
public final class SegmentConnector implements SegmentLink.Connector {
  /// Reads and writes of one peer that may wait for bytes.
  private static final int WAITERS = 1 << 16;

  private final Function<String, ClientTransport> transports;
  private final KvClientOptions options;
  private final NodeBudget budget;
  private final StagingSlots staging;
  private final AtomicLong connections = new AtomicLong();

  /// @param transports the transport to a peer, by its address
  /// @param options slices, credit, send window, keep-alive, and carriers: in shared memory, bytes of local memory that
  ///     a peer cannot map are copied through at most 32 MiB of it
  /// @param budget limits the bytes in flight; at least two slices
  public SegmentConnector(Function<String, ClientTransport> transports, KvClientOptions options, ByteBudget budget) {
    this.transports = requireNonNull(transports, "transports");
    this.options = requireNonNull(options, "options");
    this.staging = new StagingSlots(options.maxSliceBytes());
    this.budget = new NodeBudget(budget.permits(), options.maxSliceBytes());
  }

  @Override
  public Mono<SegmentLink> connect(String peer, long engine) {
    return Mono.defer(() -> {
      long number = connections.incrementAndGet();
      return NodeConnection.open(transports.apply(peer), options.link(), "peer " + peer)
          .map(connection -> link(connection, engine, number));
    });
  }

  private SegmentLink link(NodeConnection connection, long engine, long number) {
    BudgetLane in = budget.in();
    BudgetLane out = budget.out();
    return new PeerLink(connection, engine, number, in.part(in.name(), in.share(), WAITERS, 1),
        out.part("send window", options.sendWindowBytes(), WAITERS, 1), staging, options);
  }
}
