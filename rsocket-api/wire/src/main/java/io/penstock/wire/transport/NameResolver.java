package io.penstock.wire.transport;

import static java.util.Objects.requireNonNull;

import io.netty.resolver.AddressResolver;
import io.netty.resolver.AddressResolverGroup;
import io.netty.resolver.InetNameResolver;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Promise;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/// Looks up the name of a peer at each connection, so a peer that moved to another address is found there.
///
/// A connection tries the addresses of a name one after another, in their order. Nothing is kept here; the JVM keeps
/// an answer for the time that `networkaddress.cache.ttl` gives, 30 s by default and none with the launcher's flags.
public final class NameResolver extends AddressResolverGroup<InetSocketAddress> {
  private static final int THREADS = 8;
  private static final int WAITING = 1024;
  private static final int IDLE_SECONDS = 10;

  private final Function<String, Mono<List<InetAddress>>> lookUp;

  /// @param lookUp the addresses of a name, the preferred one first; cold, signals [UnknownHostException] if there are
  ///     none
  public NameResolver(Function<String, Mono<List<InetAddress>>> lookUp) {
    this.lookUp = requireNonNull(lookUp, "lookUp");
  }

  /// Looks names up as the system does: its files of hosts, its name servers. That blocks, so it has threads of its
  /// own; a name that is asked for twice at a time is looked up once.
  public static NameResolver ofSystem() {
    return OfSystem.RESOLVER;
  }

  /// Addresses of `host`, the preferred one first.
  ///
  /// @return cold; signals [UnknownHostException] if there are none
  public Mono<List<InetAddress>> addresses(String host) {
    return Mono.defer(() -> lookUp.apply(host))
        .filter(found -> !found.isEmpty())
        .switchIfEmpty(Mono.error(() -> new UnknownHostException(host)))
        .onErrorMap(UnknownHostException.class, unknown -> unknown(host, unknown));
  }

  /// The system's words repeat the name in a form of their own.
  private static UnknownHostException unknown(String host, UnknownHostException cause) {
    UnknownHostException unknown = new UnknownHostException(host);
    unknown.initCause(cause);
    return unknown;
  }

  @Override
  protected AddressResolver<InetSocketAddress> newResolver(EventExecutor executor) {
    return new InetNameResolver(executor) {
      @Override
      protected void doResolve(String host, Promise<InetAddress> promise) {
        addresses(host).subscribe(found -> promise.trySuccess(found.getFirst()), promise::tryFailure);
      }

      @Override
      protected void doResolveAll(String host, Promise<List<InetAddress>> promise) {
        addresses(host).subscribe(promise::trySuccess, promise::tryFailure);
      }
    }.asAddressResolver();
  }

  /// The threads of the system's look-ups, which end when there are none.
  private static final class OfSystem {
    private static final Map<String, Mono<List<InetAddress>>> RUNNING = new ConcurrentHashMap<>();
    private static final ThreadPoolExecutor POOL = new ThreadPoolExecutor(THREADS, THREADS, IDLE_SECONDS,
        TimeUnit.SECONDS, new LinkedBlockingQueue<>(WAITING),
        Thread.ofPlatform().daemon().name("penstock-names-", 0).factory());
    private static final NameResolver RESOLVER = new NameResolver(OfSystem::shared);

    static {
      POOL.allowCoreThreadTimeOut(true);
    }

    private OfSystem() {}

    private static Mono<List<InetAddress>> shared(String host) {
      return RUNNING.computeIfAbsent(host, name -> Mono.fromCallable(() -> List.of(InetAddress.getAllByName(name)))
          .subscribeOn(Schedulers.fromExecutor(POOL)).doFinally(end -> RUNNING.remove(name)).cache());
    }
  }
}
