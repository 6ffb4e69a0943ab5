package io.penstock.gateway;

import static java.util.Objects.requireNonNull;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.penstock.gateway.choice.Router;
import io.penstock.gateway.dialect.Dialects;
import io.penstock.gateway.dialect.EngineAddress;
import io.penstock.gateway.dialect.HttpEngineClient;
import io.penstock.gateway.dialect.Metaserver;
import io.penstock.gateway.events.EventOptions;
import io.penstock.gateway.events.EventSubscriber;
import io.penstock.gateway.http.AdminRoutes;
import io.penstock.gateway.http.ApiKeys;
import io.penstock.gateway.http.ApiRoutes;
import io.penstock.gateway.http.GatewayMeters;
import io.penstock.gateway.http.GatewayServer;
import io.penstock.gateway.http.HttpOptions;
import io.penstock.gateway.http.QuotaFile;
import io.penstock.gateway.http.QuotaShare;
import io.penstock.gateway.instance.HealthOptions;
import io.penstock.gateway.instance.InstanceRole;
import io.penstock.gateway.instance.Instances;
import io.penstock.gateway.instance.ModelCatalog;
import io.penstock.gateway.prompt.EngineTokens;
import io.penstock.gateway.prompt.GivenTokens;
import io.penstock.gateway.prompt.HttpTokenizer;
import io.penstock.gateway.prompt.PromptTokens;
import io.penstock.gateway.prompt.TextPieces;
import io.penstock.gateway.relay.Admission;
import io.penstock.gateway.relay.AdmissionOptions;
import io.penstock.gateway.relay.OwnForms;
import io.penstock.gateway.relay.Relay;
import io.penstock.gateway.relay.RelayOptions;
import io.penstock.gateway.relay.RouterChooser;
import io.penstock.node.cli.OwnerFile;
import io.penstock.node.serve.BindFailure;
import io.penstock.node.setting.PortChoice;
import io.penstock.node.setting.Setting;
import io.penstock.wire.NodeSessions;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.security.Access;
import io.penstock.wire.security.AccessRules;
import io.penstock.wire.security.ClientCertificates;
import io.penstock.wire.security.ClientTls;
import io.penstock.wire.security.Credentials;
import io.penstock.wire.security.Reloaded;
import io.penstock.wire.security.ServerTls;
import io.penstock.wire.security.TlsFiles;
import io.penstock.wire.security.UserFile;
import io.penstock.wire.transport.Endpoint;
import io.penstock.wire.transport.tcp.TcpClientOptions;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.ChannelBindException;
import reactor.netty.DisposableServer;
import reactor.netty.http.client.HttpClient;
import reactor.netty.resources.LoopResources;

/// A running gateway.
final class Gateway implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Gateway.class);
  private static final Duration END = Duration.ofSeconds(2);
  private static final Duration LOOK = Duration.ofMillis(50);
  private static final String[] TLS = {"TLSv1.3", "TLSv1.2"};
  private static final int TOKEN_BYTES = 32;

  private final GatewayConfig config;
  private final LoopResources loops;
  private final EnginePools pools;
  private final Scheduler timer;
  private final Scheduler work;
  private final Instances instances;
  private final Admission admission;
  private final EventSubscriber events;
  private final @Nullable NodeSessions sessions;
  private final List<Reloaded<?>> files = new ArrayList<>();
  private final ApiRoutes routes;
  private final DisposableServer clients;
  private final @Nullable DisposableServer operators;
  private final @Nullable RegistryLink registry;

  /// What a machine learns when the gateway is ready.
  record Ready(String url, @Nullable String admin) {}

  private Gateway(GatewayConfig config) throws IOException {
    this.config = config;
    this.timer = Schedulers.newParallel("gateway-timer", 1, true);
    this.work = Schedulers.newBoundedElastic(2, 1024, "gateway-work", 60, true);
    this.loops = LoopResources.create("gateway", Math.max(1, Runtime.getRuntime().availableProcessors()), true);
    this.pools = new EnginePools(loops, engineTls());
    SecureRandom random = new SecureRandom();
    HttpEngineClient client = new HttpEngineClient(pools);
    ModelCatalog models = new ModelCatalog();
    OwnForms forms = new OwnForms(config.get(GatewaySettings.NATIVE_FORMS));
    this.instances = new Instances(health(), address -> client.get(URI.create(address.url() + "/v1/models"))
        .doOnNext(page -> models.learn(address, page)).then(), timer);
    instances.listen(models);
    Router router = new Router(config.get(GatewaySettings.POLICY), Router.Options.defaults(), System::nanoTime, random);
    int blockTokens = config.get(GatewaySettings.BLOCK_TOKENS);
    this.events = EventSubscriber.start(router.index(), EventOptions.defaults(blockTokens), System::nanoTime);
    RouterChooser chooser = new RouterChooser(router, tokens(pools.get(), blockTokens), blockTokens, events);
    this.admission = new Admission(new AdmissionOptions(config.get(GatewaySettings.QUEUE),
        config.get(GatewaySettings.QUEUE_TIMEOUT), config.get(GatewaySettings.TTFT_GOAL).orElse(null)),
        () -> instances.answering() * config.get(GatewaySettings.RUNNING), timer);
    instances.listen(chooser);
    instances.listen(new Instances.Listener() {
      @Override
      public void changed() {
        admission.recheck();
      }
    });
    Metaserver metaserver = new Metaserver();
    Dialects dialects = new Dialects(config.get(GatewaySettings.DIALECT), client, metaserver,
        config.get(GatewaySettings.METASERVER).orElse(URI.create(scheme() + config.get(GatewaySettings.HOST) + ":"
            + config.get(GatewaySettings.PORT) + Metaserver.PATH)),
        random, timer);
    Relay relay = new Relay(relayOptions(), admission, chooser, instances, dialects, models, forms, timer);
    PrometheusMeterRegistry meters = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    HttpOptions options = new HttpOptions(config.get(GatewaySettings.BODY_BYTES),
        config.get(GatewaySettings.HEADER_BYTES), config.get(GatewaySettings.BODY_TIMEOUT),
        config.get(GatewaySettings.SEND_TIMEOUT), config.get(GatewaySettings.CONNECTIONS), tls());
    this.sessions =
        config.get(GatewaySettings.POOL).isEmpty() ? null : sessions(config.get(GatewaySettings.POOL).get(), random);
    NodeSessions told = sessions;
    ApiKeys keys = keys();
    GatewayMeters figures = new GatewayMeters(meters, admission, instances);
    QuotaShare quotas = share(keys, random);
    if (quotas != null) {
      figures.bind(quotas);
    }
    ApiRoutes routes = new ApiRoutes(options, keys, relay, instances, models, metaserver,
        told == null ? null : told::state, quotas, figures, random, timer, work);
    this.routes = routes;
    this.clients = bound(GatewayServer.clients(routes, config.get(GatewaySettings.HOST),
        config.get(GatewaySettings.PORT), loops), GatewaySettings.HOST, GatewaySettings.PORT);
    PortChoice admin = config.get(GatewaySettings.ADMIN_PORT);
    this.operators = admin.isOff()
        ? null
        : bound(GatewayServer.operators(
            new AdminRoutes(routes, instances, meters, token(random), timer), options,
            config.get(GatewaySettings.ADMIN_HOST), admin.port(), loops), GatewaySettings.ADMIN_HOST,
            GatewaySettings.ADMIN_PORT);
    files.forEach(file -> file.every(config.get(GatewaySettings.RELOAD), work));
    add(GatewaySettings.PREFILL, InstanceRole.PREFILL);
    add(GatewaySettings.DECODE, InstanceRole.DECODE);
    add(GatewaySettings.BOTH, InstanceRole.BOTH);
    this.registry = RegistryLink.open(config, instances, loops, timer, random);
    if (registry != null && quotas != null) {
      registry.share(quotas, url(), timer);
    }
    if (registry == null && instances.all().isEmpty()) {
      LOG.warn(
          "no engine is given (both, or prefill and decode) and no registry: requests get 503 until POST /instances"
              + " of the administration adds engines");
    }
  }

  /// How engines with `https` are reached: they must show a certificate of their host. Null if no file is named.
  private @Nullable SslContext engineTls() throws IOException {
    Optional<Path> trust = config.get(GatewaySettings.ENGINE_TRUST);
    return trust.isEmpty()
        ? null
        : SslContextBuilder.forClient().trustManager(trust.get().toFile()).protocols(TLS)
            .endpointIdentificationAlgorithm("HTTPS").build();
  }

  /// Token ids as they are given; texts as an engine makes tokens of them, if it is asked, or else in pieces.
  private PromptTokens tokens(HttpClient http, int blockTokens) {
    List<PromptTokens> all = new ArrayList<>(List.of(new GivenTokens(blockTokens)));
    if (config.get(GatewaySettings.TOKENIZE)) {
      all.add(new EngineTokens(new HttpTokenizer(http, this::anEngine), EngineTokens.Options.defaults(blockTokens),
          timer));
    }
    all.add(new TextPieces(blockTokens));
    return PromptTokens.firstOf(all);
  }

  /// An engine that answers.
  private URI anEngine() {
    return Stream.of(InstanceRole.PREFILL, InstanceRole.BOTH, InstanceRole.DECODE)
        .flatMap(role -> instances.live(role).stream()).findFirst()
        .orElseThrow(() -> new IllegalStateException("an engine must answer (none does)")).address().url();
  }

  static Gateway start(GatewayConfig config) throws IOException {
    return new Gateway(config);
  }

  /// Binds a server. One that cannot be bound leaves nothing open.
  private DisposableServer bound(Mono<? extends DisposableServer> server, Setting<?> host, Setting<?> port)
      throws IOException {
    try {
      return requireNonNull(server.block(), "a server binds or fails");
    } catch (ChannelBindException e) {
      events.close().block(END);
      release();
      throw BindFailure.of(config.said(host), config.said(port), e);
    }
  }

  private void add(Setting<List<EngineAddress>> setting, InstanceRole role) {
    config.get(setting).forEach(address -> instances.add(AdminRoutes.nameOf(address), role, address));
  }

  private HealthOptions health() {
    return new HealthOptions(config.get(GatewaySettings.HEALTH_INTERVAL), config.get(GatewaySettings.HEALTH_TIMEOUT),
        config.get(GatewaySettings.HEALTH_DOWN), config.get(GatewaySettings.HEALTH_UP));
  }

  private RelayOptions relayOptions() {
    return new RelayOptions(config.get(GatewaySettings.ATTEMPTS), config.get(GatewaySettings.RESUMES),
        config.get(GatewaySettings.FIRST_TIMEOUT), config.get(GatewaySettings.IDLE_TIMEOUT),
        config.get(GatewaySettings.TOTAL_TIMEOUT));
  }

  /// The sessions of the node where engines keep blocks; it connects when a session pauses or ends.
  private NodeSessions sessions(Endpoint place, RandomGenerator random) throws IOException {
    KvClientOptions.Builder options = KvClientOptions.builder().name("penstock-gateway");
    Optional<Path> password = config.get(GatewaySettings.POOL_PASSWORD);
    if (password.isPresent()) {
      char[] secret = OwnerFile.firstLine(GatewaySettings.POOL_PASSWORD.key(), password.get()).toCharArray();
      String user = config.get(GatewaySettings.POOL_USER);
      options.credentials(user.equals("none") ? Credentials.bearer(secret) : Credentials.simple(user, secret));
    }
    TcpClientOptions tcp = TcpClientOptions.to(place.address()).withConnectTimeout(EnginePools.CONNECT);
    Optional<Path> trust = config.get(GatewaySettings.POOL_TRUST);
    if (trust.isPresent()) {
      tcp = tcp.withTls(ClientTls.of(TlsFiles.none().withTrust(trust.get())));
    }
    return NodeSessions.at(place, tcp, options.build(), loops, timer, random);
  }

  private @Nullable ServerTls tls() throws IOException {
    Optional<Path> cert = config.get(GatewaySettings.TLS_CERT);
    if (cert.isEmpty()) {
      return null;
    }
    ServerTls tls = ServerTls.of(
        TlsFiles.none().withCert(cert.get(), config.get(GatewaySettings.TLS_KEY).orElseThrow()),
        ClientCertificates.NONE);
    files.add(tls.files());
    return tls;
  }

  private ApiKeys keys() throws IOException {
    Optional<Path> users = config.get(GatewaySettings.KEYS);
    Optional<Path> named = config.get(GatewaySettings.QUOTAS);
    Supplier<QuotaFile> quotas = () -> new QuotaFile(Map.of());
    if (named.isPresent()) {
      quotas = watched("quotas of the gateway", named.get(), () -> QuotaFile.read(named.get()));
    }
    Access access = Access.open();
    if (users.isPresent()) {
      access = Access.of(watched("keys of the gateway", users.get(), () -> UserFile.read(users.get())),
          AccessRules::open);
    }
    return new ApiKeys(access, quotas, timer, work);
  }

  /// Quotas that hold over all gateways of the nodes that keep the registry; null if there are no quotas, or no nodes.
  private @Nullable QuotaShare share(ApiKeys keys, SecureRandom random) {
    return config.get(GatewaySettings.REGISTRY).isEmpty() || config.get(GatewaySettings.QUOTAS).isEmpty()
        ? null
        : new QuotaShare(HexFormat.of().toHexDigits(random.nextLong()), keys,
            () -> timer.now(TimeUnit.NANOSECONDS));
  }

  private <T> Supplier<T> watched(String name, Path file, Reloaded.Reading<T> reading) throws IOException {
    Reloaded<T> read = Reloaded.read(name, List.of(file), reading);
    files.add(read);
    return read::current;
  }

  private @Nullable String token(SecureRandom random) throws IOException {
    Optional<Path> file = config.get(GatewaySettings.ADMIN_TOKEN);
    if (file.isEmpty()) {
      return null;
    }
    if (Files.notExists(file.get())) {
      byte[] token = new byte[TOKEN_BYTES];
      random.nextBytes(token);
      OwnerFile.create(file.get(), HexFormat.of().formatHex(token));
    }
    String token = OwnerFile.firstLine(GatewaySettings.ADMIN_TOKEN.key(), file.get()).strip();
    if (token.length() < TOKEN_BYTES / 2) {
      throw new IllegalArgumentException("admin.token.file must have a token of at least " + TOKEN_BYTES / 2
          + " characters (was shorter)");
    }
    return token;
  }

  String url() {
    return scheme() + config.get(GatewaySettings.HOST) + ":" + clients.port();
  }

  private String scheme() {
    return config.get(GatewaySettings.TLS_CERT).isPresent() ? "https://" : "http://";
  }

  Ready ready() {
    DisposableServer admin = operators;
    return new Ready(url(), admin == null
        ? null
        : config.get(GatewaySettings.ADMIN_HOST) + ":" + admin.port());
  }

  /// Accepts no new connection and waits for the requests that run.
  ///
  /// @return whether all of them ended
  boolean drain() {
    routes.drain();
    clients.dispose();
    Duration limit = config.get(GatewaySettings.DRAIN_TIMEOUT);
    return Boolean.TRUE.equals(Flux.interval(Duration.ZERO, LOOK, timer)
        .filter(tick -> admission.running() + admission.waiting() == 0).next().hasElement()
        .timeout(limit, Mono.just(false), timer).block());
  }

  @Override
  public void close() {
    if (registry != null) {
      registry.close().block(END);
    }
    instances.close();
    clients.disposeNow(END);
    if (operators != null) {
      operators.disposeNow(END);
    }
    events.close().block(END);
    if (sessions != null) {
      sessions.close().block(END);
    }
    release();
  }

  private void release() {
    pools.close().block(END);
    loops.disposeLater(Duration.ZERO, END).block(END.plus(END));
    work.dispose();
    timer.dispose();
  }
}
