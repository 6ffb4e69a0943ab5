package io.penstock.gateway;

import io.penstock.disagg.registry.InstanceView;
import io.penstock.gateway.http.QuotaShare;
import io.penstock.gateway.instance.Instances;
import io.penstock.gateway.instance.RegistryFollower;
import io.penstock.node.cli.OwnerFile;
import io.penstock.node.config.RegistryTls;
import io.penstock.operator.LiveTimers;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.rank.RegistryClient;
import io.penstock.wire.security.ClientTls;
import io.penstock.wire.security.Credentials;
import io.penstock.wire.security.TlsFiles;
import io.penstock.wire.transport.Endpoint;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.netty.resources.LoopResources;

/// The gateway's connection to the registry of a node, and what follows it.
record RegistryLink(RegistryClient client, RegistryFollower follower, Disposable.Swap sharing) {
  /// Time between two tellings of what tenants have used.
  private static final Duration TELLING = Duration.ofSeconds(1);
  private static final Duration PATIENCE = Duration.ofSeconds(2);

  /// Follows the registry that the settings name; null if they name none.
  static @Nullable RegistryLink open(GatewayConfig config, Instances instances, LoopResources loops, Scheduler timer,
      RandomGenerator random) throws IOException {
    List<Endpoint> nodes = config.get(GatewaySettings.REGISTRY);
    if (nodes.isEmpty()) {
      return null;
    }
    RegistryClient client = RegistryClient.of(nodes, tls(config), loops,
        KvClientOptions.builder().credentials(credentials(config)).build(), LiveTimers.of(timer), random);
    Optional<String> model = config.get(GatewaySettings.REGISTRY_MODEL);
    RegistryFollower follower = new RegistryFollower(instances,
        new RegistryFollower.Options(config.get(GatewaySettings.REGISTRY_INTERVAL),
            config.get(GatewaySettings.REGISTRY_PATIENCE)),
        (InstanceView view) -> model.isEmpty() || view.manifest().model().equals(model.get()), timer);
    follower.follow(client.instances());
    return new RegistryLink(client, follower, Disposables.swap());
  }

  /// Tells other gateways, through the nodes that keep the registry, what tenants have used, and hears it of them.
  ///
  /// @param url where clients of this gateway ask
  void share(QuotaShare quotas, String url, Scheduler timer) {
    sharing.update(Flux.interval(Duration.ZERO, TELLING, timer).onBackpressureDrop()
        .concatMap(tick -> Mono.defer(() -> client.usage(quotas.told(url))).timeout(PATIENCE, timer)
            .doOnNext(quotas::heard)
            .onErrorResume(failure -> Mono.fromRunnable(() -> quotas.lost(failure))), 1)
        .subscribe());
  }

  private static @Nullable ClientTls tls(GatewayConfig config) throws IOException {
    Optional<Path> trust = config.get(GatewaySettings.REGISTRY_TRUST);
    RegistryTls wanted = config.get(GatewaySettings.REGISTRY_TLS);
    if (wanted == RegistryTls.OFF || (wanted == RegistryTls.AUTO && trust.isEmpty())) {
      return null;
    }
    TlsFiles files = trust.isPresent() ? TlsFiles.none().withTrust(trust.get()) : TlsFiles.none();
    return wanted == RegistryTls.ANY_HOST ? ClientTls.ofAnyHost(files) : ClientTls.of(files);
  }

  private static Credentials credentials(GatewayConfig config) throws IOException {
    Optional<Path> token = config.get(GatewaySettings.REGISTRY_TOKEN);
    return token.isEmpty()
        ? Credentials.none()
        : Credentials.bearer(
            OwnerFile.firstLine(GatewaySettings.REGISTRY_TOKEN.key(), token.get()).toCharArray());
  }

  Mono<Void> close() {
    sharing.dispose();
    follower.close();
    return client.close();
  }
}
