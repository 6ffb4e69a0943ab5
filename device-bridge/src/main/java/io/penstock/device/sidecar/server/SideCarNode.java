package io.penstock.device.sidecar.server;

import io.penstock.device.memory.StagingPool;
import io.penstock.device.sidecar.SideCarCode;
import io.penstock.device.sidecar.SideCarFailure;
import io.penstock.device.sidecar.SideCarServerOptions;
import io.penstock.device.sidecar.SideCarStat;
import io.penstock.device.sidecar.link.Link;
import io.penstock.device.sidecar.link.SideCarMessage.ClientId;
import io.penstock.device.sidecar.link.SideCarMessage.Hello;
import io.penstock.operator.Serial;
import java.nio.file.attribute.UserPrincipal;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;

/// The node's side of the protocol over any kind of link: its clients and sessions, admission, and silent connections.
final class SideCarNode {
  private static final int TICKS_OF_A_LIFE = 10;

  private final Serial mailbox = new Serial();
  private final NodeWorkers workers;
  private final Scheduler timer;
  private final Disposable ticking;
  private final Sinks.Empty<Void> closed = Sinks.empty();
  /// This and the fields below belong to the mailbox.
  private final Set<NodeSession> sessions = new LinkedHashSet<>();
  private final Map<ClientId, NodeClient> clients = new LinkedHashMap<>();
  private boolean closing;

  /// @param staging stays the caller's; to be closed after this
  /// @param workers a few threads that may wait; stays the caller's
  /// @param timer must not be blocked; stays the caller's
  SideCarNode(SideCarServerOptions options, RegionOpener opener, StagingPool staging, Scheduler workers,
      Scheduler timer) {
    this.workers = new NodeWorkers(options, opener, staging, workers, mailbox);
    this.timer = timer;
    long life = NodeSession.nanos(options);
    long tick = Math.max(1, life / TICKS_OF_A_LIFE);
    this.ticking =
        timer.schedulePeriodically(() -> mailbox.run(() -> hangUpOnSilent(life)), tick, tick, TimeUnit.NANOSECONDS);
  }

  /// Returns the receiver of a new link's events.
  Link.Events accept(UserPrincipal user) {
    return new NodeSession(this, mailbox, user);
  }

  SideCarStat stat() {
    return workers.stat();
  }

  NodeWorkers workers() {
    return workers;
  }

  long nanos() {
    return timer.now(TimeUnit.NANOSECONDS);
  }

  void enter(NodeSession session) {
    if (closing) {
      session.hangUp();
    } else {
      sessions.add(session);
    }
  }

  void leave(NodeSession session) {
    sessions.remove(session);
  }

  /// Gives the session its client, once that is possible, or hangs up.
  void admit(NodeSession session, Hello hello, long request) {
    NodeClient there = clients.get(hello.client());
    if (session.isOver()) {
      return;
    }
    if (closing) {
      session.end(request, workers.refused(SideCarCode.NODE_CLOSED, SideCarFailure.NO_REGION, "closing"));
    } else if (there == null && clients.size() == workers.options().maxClients()) {
      session.end(request,
          workers.refused(SideCarCode.TOO_MANY, SideCarFailure.NO_REGION, clients.size() + " clients"));
    } else if (there == null) {
      session.attach(enter(session, hello), request);
    } else if (there.isLeaving() && there.waiting() >= 2 * workers.options().maxClients()) {
      session.end(request,
          workers.refused(SideCarCode.BUSY, SideCarFailure.NO_REGION, "earlier connections are ending"));
    } else if (there.isLeaving()) {
      there.leave(() -> admit(session, hello, request)); // when it is gone
    } else if (!there.owner().equals(session.owner(hello.process()))) {
      session.end(request,
          workers.refused(SideCarCode.FORBIDDEN, SideCarFailure.NO_REGION, "the client of another process"));
    } else {
      NodeSession before = there.session();
      if (before != null) {
        before.yieldTo();
      }
      session.attach(there, request);
    }
  }

  private NodeClient enter(NodeSession session, Hello hello) {
    NodeClient client = new NodeClient(session.owner(hello.process()), workers, () -> {
      clients.remove(hello.client());
      workers.count(-1, 0, 0, 0, 0, 0, 0);
      endIfEmpty();
    });
    clients.put(hello.client(), client);
    workers.count(1, 0, 0, 0, 0, 0, 0);
    return client;
  }

  private void hangUpOnSilent(long nanos) {
    for (NodeSession session : List.copyOf(sessions)) {
      if (session.isSilentFor(nanos)) {
        session.hangUp();
      }
    }
  }

  /// Refuses new requests, ends copies in flight, unmaps everything, closes connections. Lazy and idempotent.
  Mono<Void> close() {
    return Mono.defer(() -> {
      mailbox.run(() -> {
        closing = true;
        List.copyOf(clients.values()).forEach(client -> client.leave(() -> {}));
        endIfEmpty();
      });
      return closed.asMono();
    });
  }

  private void endIfEmpty() {
    if (closing && clients.isEmpty()) {
      ticking.dispose();
      List.copyOf(sessions).forEach(NodeSession::hangUp);
      closed.tryEmitEmpty();
    }
  }
}
