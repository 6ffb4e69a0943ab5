package io.penstock.wire.transport.local;

import static java.util.Objects.requireNonNull;

import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.local.LocalAddress;
import io.penstock.wire.transport.ConnectionLimits;
import io.penstock.wire.transport.ConnectionListener;
import io.penstock.wire.transport.LoopTimers;
import io.penstock.wire.transport.TimedTransport;
import io.rsocket.Closeable;
import io.rsocket.DuplexConnection;
import io.rsocket.transport.ClientTransport;
import io.rsocket.transport.ServerTransport;
import java.net.ConnectException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;
import reactor.netty.resources.LoopResources;

/// Frames within one process, for tests and for programs that embed a node: no socket and no copy. Frames pass by
/// reference, over a send queue with the same bounds as that of a socket.
///
/// Its peers trust each other, so there are no slots and no times for SETUP and frames.
public final class LocalTransport {
  private static final ConcurrentMap<String, Listening> LISTENING = new ConcurrentHashMap<>();

  private LocalTransport() {}

  /// A client of the listener `name`, which need not be there yet.
  public static ClientTransport client(String name, ConnectionLimits limits, LoopResources loops,
      ConnectionListener listener) {
    return client(name, limits, loops, listener, ByteBufAllocator.DEFAULT);
  }

  /// A server at `name`; `start` listens, or signals a [java.net.BindException] if another does.
  public static ServerTransport<Closeable> server(String name, ConnectionLimits limits, LoopResources loops,
      ConnectionListener listener) {
    return server(name, limits, loops, listener, ByteBufAllocator.DEFAULT);
  }

  static ClientTransport client(String name, ConnectionLimits limits, LoopResources loops, ConnectionListener listener,
      ByteBufAllocator alloc) {
    return new Client(name, new LocalConnection.Setting(limits, loops, listener, alloc, new LocalAddress(name)));
  }

  static ServerTransport<Closeable> server(String name, ConnectionLimits limits, LoopResources loops,
      ConnectionListener listener, ByteBufAllocator alloc) {
    return new Server(name, new LocalConnection.Setting(limits, loops, listener, alloc, new LocalAddress(name)));
  }

  private record Client(String name, LocalConnection.Setting setting) implements ClientTransport, TimedTransport {
    @Override
    public Scheduler timers() {
      return LoopTimers.ofFirst(setting.loops().onClient(false));
    }

    @Override
    public Mono<DuplexConnection> connect() {
      return Mono.fromCallable(() -> {
        Listening to = LISTENING.get(name);
        if (to == null) {
          throw new ConnectException("no node is listening at local:" + name);
        }
        return to.connect(setting);
      });
    }

    @Override
    public int maxFrameLength() {
      return setting.limits().maxFrameBytes();
    }
  }

  private record Server(String name, LocalConnection.Setting setting) implements ServerTransport<Closeable> {
    @Override
    public Mono<Closeable> start(ConnectionAcceptor acceptor) {
      requireNonNull(acceptor, "acceptor");
      return Mono.fromCallable(() -> {
        Listening listening = new Listening(name, setting, acceptor);
        if (LISTENING.putIfAbsent(name, listening) != null) {
          throw new java.net.BindException("name must be free in this process (was in use: local:" + name + ")");
        }
        return listening;
      });
    }

    @Override
    public int maxFrameLength() {
      return setting.limits().maxFrameBytes();
    }
  }

  private static final class Listening implements Closeable {
    private final String name;
    private final LocalConnection.Setting setting;
    private final ServerTransport.ConnectionAcceptor acceptor;
    private final Set<LocalConnection> open = new LinkedHashSet<>();
    private final Sinks.Empty<Void> stopped = Sinks.empty();

    Listening(String name, LocalConnection.Setting setting, ServerTransport.ConnectionAcceptor acceptor) {
      this.name = name;
      this.setting = setting;
      this.acceptor = acceptor;
    }

    DuplexConnection connect(LocalConnection.Setting client) {
      LocalConnection.Pair pair = LocalConnection.pair(client, setting);
      synchronized (open) {
        open.add(pair.server());
      }
      pair.server().gone().subscribe(nothing -> {}, failed -> {}, () -> leave(pair.server()));
      acceptor.apply(pair.server()).subscribe(nothing -> {}, failed -> pair.server().dispose());
      return pair.client();
    }

    private void leave(LocalConnection connection) {
      synchronized (open) {
        open.remove(connection);
      }
    }

    private List<LocalConnection> open() {
      synchronized (open) {
        return List.copyOf(open);
      }
    }

    @Override
    public void dispose() {
      LISTENING.remove(name, this);
      open().forEach(LocalConnection::dispose);
      stopped.tryEmitEmpty();
    }

    @Override
    public boolean isDisposed() {
      return LISTENING.get(name) != this;
    }

    @Override
    public Mono<Void> onClose() {
      return stopped.asMono().then(Flux.defer(() -> Flux.fromIterable(open()))
          .flatMap(LocalConnection::gone, Integer.MAX_VALUE, 1).then());
    }
  }
}
