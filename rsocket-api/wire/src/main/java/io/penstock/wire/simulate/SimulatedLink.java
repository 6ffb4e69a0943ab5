package io.penstock.wire.simulate;

import static java.util.Objects.requireNonNull;

import io.netty.buffer.ByteBufAllocator;
import io.penstock.wire.transport.TimedTransport;
import io.rsocket.Closeable;
import io.rsocket.DuplexConnection;
import io.rsocket.transport.ClientTransport;
import io.rsocket.transport.ServerTransport;
import java.net.ConnectException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;

/// One server and its clients on a simulated network.
///
/// Every `connect` opens a connection of its own, numbered from 0; `plans` describes the behaviour of each. All events
/// are tasks of the given [SimulatedTime], so a run is a function of its seed, its plans and its frames.
public final class SimulatedLink {
  private final SimulatedTime time;
  private final String name;
  private final ByteBufAllocator alloc;
  private final IntFunction<LinkPlan> plans;
  private final Consumer<LinkEvent> trace;
  private final Scheduler.Worker worker;
  private @Nullable Listening listening;
  private int connections;

  /// @param name part of addresses, and the source of this link's randomness
  /// @param plans called once for each connection, with its number
  /// @param trace receives every frame delivered
  public SimulatedLink(
      SimulatedTime time, String name, ByteBufAllocator alloc, IntFunction<LinkPlan> plans, Consumer<LinkEvent> trace) {
    this.time = requireNonNull(time, "time");
    this.name = requireNonNull(name, "name");
    this.alloc = requireNonNull(alloc, "alloc");
    this.plans = requireNonNull(plans, "plans");
    this.trace = requireNonNull(trace, "trace");
    this.worker = time.scheduler().createWorker();
  }

  /// A link on which every connection follows one plan.
  public static SimulatedLink of(SimulatedTime time, String name, ByteBufAllocator alloc, LinkPlan plan) {
    return new SimulatedLink(time, name, alloc, number -> plan, event -> {});
  }

  /// Connects to the server; [ConnectException] if none listens.
  public ClientTransport client() {
    return new Client();
  }

  private final class Client implements ClientTransport, TimedTransport {
    @Override
    public Mono<DuplexConnection> connect() {
      return Mono.create(sink -> {
        int number = connections++;
        SimulatedWire wire = new SimulatedWire(time, name + "-" + number, number, plans.apply(number), alloc, trace);
        sink.onCancel(() -> wire.client().dispose());
        worker.schedule(() -> {
          Listening server = listening;
          if (wire.client().isDisposed()) {
            return; // cancelled on the way
          }
          if (server == null) {
            sink.error(new ConnectException(name + ": a server must listen (was none)"));
            return;
          }
          server.accept(wire.server());
          sink.success(wire.client());
        }, wire.latencyNanos(), TimeUnit.NANOSECONDS);
      });
    }

    @Override
    public Scheduler timers() {
      return time.scheduler();
    }
  }

  /// Listens; one at a time. Disposing what `start` gives stops listening and closes the connections it accepted.
  public ServerTransport<Closeable> server() {
    return acceptor -> Mono.fromSupplier(() -> {
      if (listening != null) {
        throw new IllegalStateException(name + ": one server must listen at a time (was a second one)");
      }
      Listening started = new Listening(this, acceptor);
      listening = started;
      return started;
    });
  }

  private static final class Listening implements Closeable {
    private final SimulatedLink link;
    private final ServerTransport.ConnectionAcceptor acceptor;
    private final List<DuplexConnection> accepted = new ArrayList<>();
    private final Sinks.Empty<Void> closed = Sinks.empty();
    private boolean disposed;

    Listening(SimulatedLink link, ServerTransport.ConnectionAcceptor acceptor) {
      this.link = link;
      this.acceptor = acceptor;
    }

    void accept(SimulatedConnection connection) {
      accepted.add(connection);
      connection.gone().subscribe(nothing -> {}, failed -> {}, () -> left(connection));
      acceptor.apply(connection).subscribe(nothing -> {}, failed -> connection.dispose());
    }

    @Override
    public void dispose() {
      if (!disposed) {
        disposed = true;
        link.listening = null;
        List.copyOf(accepted).forEach(DuplexConnection::dispose);
        tellIfClosed();
      }
    }

    @Override
    public boolean isDisposed() {
      return disposed;
    }

    @Override
    public Mono<Void> onClose() {
      return closed.asMono();
    }

    private void left(DuplexConnection connection) {
      accepted.remove(connection);
      tellIfClosed();
    }

    private void tellIfClosed() {
      if (disposed && accepted.isEmpty()) {
        closed.tryEmitEmpty();
      }
    }
  }
}
