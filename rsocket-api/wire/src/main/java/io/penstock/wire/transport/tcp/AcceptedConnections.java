package io.penstock.wire.transport.tcp;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.wire.transport.ConnectionSlots;
import io.penstock.wire.transport.Refusal;
import io.penstock.wire.transport.TransportFailure.RefusedPeerException;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// The connections of one listener. Those that are not set up have slots of their own, so however many keep silent,
/// a peer that sets up finds one. Safe from any thread: each event loop accepts.
final class AcceptedConnections {
  private final ConnectionSlots slots;
  @GuardedBy("this") private final Set<TcpConnection> open = new LinkedHashSet<>();
  @GuardedBy("this") private final Map<Object, Set<TcpConnection>> newcomers = new LinkedHashMap<>();
  @GuardedBy("this") private final Map<Object, Integer> setUp = new HashMap<>();
  @GuardedBy("this") private final Set<TcpConnection> setUpConnections = new LinkedHashSet<>();
  @GuardedBy("this") private int silent;
  /// Refused connections that may still read the reason.
  @GuardedBy("this") private final Set<TcpConnection> refused = new LinkedHashSet<>();
  @GuardedBy("this") private boolean closing;

  AcceptedConnections(ConnectionSlots slots) {
    this.slots = slots;
  }

  /// A newcomer: from now on it has `timeToSetup`.
  void enter(TcpConnection connection) {
    TcpConnection leaves;
    boolean late;
    synchronized (this) {
      open.add(connection);
      newcomers.computeIfAbsent(connection.source(), source -> new LinkedHashSet<>()).add(connection);
      silent++;
      leaves = silent > slots.newcomers() ? leaveFirst() : null;
      late = closing;
    }
    connection.gone().subscribe(nothing -> {}, failed -> {}, () -> leave(connection));
    if (late) {
      connection.dispose();
    } else if (leaves != null) {
      leaves.fail(new RefusedPeerException(Refusal.NEWCOMERS,
          "connections that are not set up must be <= " + slots.newcomers() + " (was " + (slots.newcomers() + 1)
              + ", most of them from this address)"));
      leaves.closeAtOnce();
    }
  }

  /// SETUP has arrived; returns null if the connection stays, else the reason.
  @Nullable RefusedPeerException setUp(TcpConnection connection) {
    Object source = connection.source();
    synchronized (this) {
      if (!dropNewcomer(connection, source)) {
        return null; // on its way out already
      }
      int ofAddress = setUp.getOrDefault(source, 0);
      RefusedPeerException refusal = null;
      if (setUpConnections.size() >= slots.setUp()) {
        refusal = tooMany(Refusal.CONNECTIONS, "connections", slots.setUp());
      } else if (ofAddress >= slots.byAddress()) {
        refusal = tooMany(Refusal.ADDRESS, "connections of one address", slots.byAddress());
      } else {
        setUpConnections.add(connection);
        setUp.put(source, ofAddress + 1);
      }
      if (refusal != null) {
        refused.add(connection);
      }
      return refusal;
    }
  }

  /// True if a refused connection may stay open until its peer has read why.
  synchronized boolean mayLinger() {
    return refused.size() <= slots.newcomers();
  }

  /// Connections that are open, refused ones that still close among them.
  synchronized int count() {
    return open.size();
  }

  void disposeAll() {
    List<TcpConnection> ending;
    synchronized (this) {
      closing = true;
      ending = List.copyOf(open);
    }
    ending.forEach(TcpConnection::dispose);
  }

  Mono<Void> onClose() {
    return Flux.defer(() -> Flux.fromIterable(stillOpen())).flatMap(TcpConnection::gone, Integer.MAX_VALUE, 1).then();
  }

  private synchronized List<TcpConnection> stillOpen() {
    return List.copyOf(open);
  }

  private static RefusedPeerException tooMany(Refusal reason, String what, int most) {
    return new RefusedPeerException(reason, what + " must be <= " + most + " (was " + (most + 1) + ")");
  }

  /// The oldest connection of the address that has most newcomers.
  @GuardedBy("this") private TcpConnection leaveFirst() {
    Object source = null;
    int most = 0;
    for (Map.Entry<Object, Set<TcpConnection>> each : newcomers.entrySet()) {
      if (each.getValue().size() > most) {
        most = each.getValue().size();
        source = each.getKey();
      }
    }
    TcpConnection oldest = newcomers.getOrDefault(source, Set.of()).iterator().next();
    dropNewcomer(oldest, oldest.source());
    return oldest;
  }

  @GuardedBy("this") private boolean dropNewcomer(TcpConnection connection, Object source) {
    Set<TcpConnection> ofAddress = newcomers.getOrDefault(source, Set.of());
    if (!ofAddress.contains(connection)) {
      return false;
    }
    ofAddress.remove(connection);
    silent--;
    if (ofAddress.isEmpty()) {
      newcomers.remove(source);
    }
    return true;
  }

  /// The slot is free before the connection is gone: a client that sees one connection less may open another.
  private synchronized void leave(TcpConnection connection) {
    Object source = connection.source();
    dropNewcomer(connection, source);
    if (setUpConnections.remove(connection)) {
      setUp.computeIfPresent(source, (address, count) -> count > 1 ? count - 1 : null);
    }
    refused.remove(connection);
    open.remove(connection);
  }
}
