package io.penstock.device.sidecar.server;

import io.penstock.device.Device;
import io.penstock.device.memory.HostMemory;
import io.penstock.device.memory.MappedMemory;
import io.penstock.device.memory.MappedOptions;
import io.penstock.device.memory.MemoryListener;
import io.penstock.device.memory.MemoryPages;
import io.penstock.device.memory.StagingPool;
import io.penstock.device.memory.StagingSpec;
import io.penstock.device.sidecar.SideCarServerOptions;
import io.penstock.device.sidecar.SideCarStat;
import io.penstock.device.sidecar.link.SocketLink;
import io.penstock.operator.LiveTimers;
import io.penstock.system.SocketFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.UserPrincipal;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import jdk.net.ExtendedSocketOptions;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.util.Logger;
import reactor.util.Loggers;

/// The node's side: listens on a Unix domain socket for processes of the same user, maps what they register, copies
/// for them, and unmaps their memory when they have ended. Linux only.
///
/// Safe from any thread. Bounded in clients, regions, bytes of host memory and copies in flight by
/// [SideCarServerOptions]; has a thread a connection, a few workers, and one timer.
public final class SideCarServer {
  private static final Logger LOG = Loggers.getLogger(SideCarServer.class);
  private static final StagingSpec STAGING = new StagingSpec(4, 1 << 20);
  private static final int MAX_QUEUED = 1 << 20;
  private static final int THREAD_SECONDS = 60;
  /// A system without descriptors refuses at once, again and again.
  private static final long AFTER_REFUSAL_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final SocketFile file;
  private final ServerSocketChannel listening;
  private final UserPrincipal user;
  private final Scheduler workers;
  private final Scheduler timer;
  private final SideCarNode node;
  private final Semaphore connections;
  private final AtomicLong accepted = new AtomicLong();
  private final Mono<Void> close;

  private SideCarServer(SocketFile file, ServerSocketChannel listening, SideCarServerOptions options,
      Map<Integer, Device> devices)
      throws IOException {
    this.file = file;
    this.listening = listening;
    this.user = Files.getOwner(Path.of("/proc/self"));
    StagingPool staging = staging(options);
    this.workers = Schedulers.newBoundedElastic(Copier.THREADS, MAX_QUEUED,
        "penstock-sidecar-copy", THREAD_SECONDS, true);
    this.timer = LiveTimers.of(Schedulers.newSingle("penstock-sidecar-time", true));
    try {
      this.node = new SideCarNode(options, new NodeRegions(devices, workers), staging, workers, timer);
    } catch (Throwable e) { // no thread
      timer.dispose();
      workers.dispose();
      staging.close().subscribe(nothing -> {}, e::addSuppressed);
      throw e;
    }
    // Twice, so that a returning client need not wait for the end of its old connection
    this.connections = new Semaphore(2 * options.maxClients());
    this.close = Mono.defer(() -> {
      stopListening();
      return node.close().then(staging.close());
    }).doFinally(end -> {
      timer.dispose();
      workers.dispose();
    }).cache();
  }

  private static StagingPool staging(SideCarServerOptions options) {
    HostMemory memory = new MappedMemory(MappedOptions.defaults().withPages(MemoryPages.PLAIN), MemoryListener.noop())
        .map(STAGING.bytes());
    return StagingPool.of("side-car staging", STAGING, Math.multiplyExact(options.maxClients(), options.maxCopies()),
        memory);
  }

  /// Listens on `path`, which only this user may use. Removes the socket of a node that was killed.
  ///
  /// @param devices by the number that the machine has for them; stay the caller's, closed after this
  /// @throws IOException if another node listens there, or something else is there, or the system refuses
  public static SideCarServer open(Path path, SideCarServerOptions options, Map<Integer, Device> devices)
      throws IOException {
    SocketFile file = SocketFile.claim(path);
    ServerSocketChannel listening = null;
    SideCarServer server = null;
    try {
      listening = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
      listening.bind(UnixDomainSocketAddress.of(file.hidden()));
      file.show();
      server = new SideCarServer(file, listening, options, devices);
      Thread.ofPlatform().daemon().name("penstock-sidecar").start(server::accept);
      return server;
    } catch (Throwable e) { // no thread, or a refusal of the system
      if (server != null) {
        server.close().subscribe(nothing -> {}, e::addSuppressed);
      } else {
        if (listening != null) {
          listening.close();
        }
        file.close();
      }
      throw e;
    }
  }

  private void accept() {
    while (listening.isOpen()) {
      try {
        SocketChannel channel = listening.accept();
        if (!connections.tryAcquire()) {
          channel.close();
        } else if (!begun(channel)) {
          connections.release();
          channel.close();
        }
      } catch (IOException e) {
        if (listening.isOpen()) {
          LOG.warn("side-car: a connection could not be accepted", e);
          LockSupport.parkNanos(AFTER_REFUSAL_NANOS);
        }
      }
    }
  }

  /// False if there is no thread for it.
  private boolean begun(SocketChannel channel) {
    try {
      Thread.ofPlatform().daemon().name("penstock-sidecar-" + accepted.incrementAndGet()).start(() -> talk(channel));
      return true;
    } catch (OutOfMemoryError e) { // of threads: others may end
      LOG.warn("side-car: no thread for a connection", e);
      return false;
    }
  }

  private void talk(SocketChannel channel) {
    try (channel) {
      UserPrincipal peer = channel.getOption(ExtendedSocketOptions.SO_PEERCRED).user();
      if (peer.equals(user)) {
        node.workers().pieceQueue().read(spare -> SocketLink.run(channel, node.accept(peer), spare));
      } else {
        LOG.warn("side-car: hung up on user {}", peer.getName());
      }
    } catch (IOException e) {
      LOG.warn("side-car: a connection failed", e);
    } finally {
      connections.release();
    }
  }

  public SideCarStat stat() {
    return node.stat();
  }

  /// Refuses new clients, waits for copies in flight, unmaps everything, hangs up. Lazy and idempotent.
  public Mono<Void> close() {
    return close;
  }

  private void stopListening() {
    try {
      listening.close();
      file.close();
    } catch (IOException | UncheckedIOException e) { // everything else is closed
      LOG.warn("side-car: could not stop listening", e);
    }
  }

  @Override
  public String toString() {
    return "side-car at " + file.path();
  }
}
