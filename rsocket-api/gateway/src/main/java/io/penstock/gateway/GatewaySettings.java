package io.penstock.gateway;

import io.penstock.gateway.api.ApiForm;
import io.penstock.gateway.choice.Policy;
import io.penstock.gateway.dialect.DialectName;
import io.penstock.gateway.dialect.EngineAddress;
import io.penstock.node.config.RegistryTls;
import io.penstock.node.config.TransportSettings;
import io.penstock.node.setting.LogLevel;
import io.penstock.node.setting.PortChoice;
import io.penstock.node.setting.Setting;
import io.penstock.node.setting.SettingType;
import io.penstock.node.setting.Topic;
import io.penstock.node.text.Durations;
import io.penstock.wire.transport.Endpoint;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/// The settings of the gateway. The variable of a setting is its key after `PENSTOCK_GATEWAY_`.
final class GatewaySettings {
  private static final String NONE = "none";
  private static final SettingType<List<EngineAddress>> ENGINES = new SettingType<>("URLS",
      "http or https URLs, separated by commas, with settings such as #bootstrap-port=8998, or none",
      GatewaySettings::engines, all -> all.isEmpty()
          ? NONE
          : all.stream().map(GatewaySettings::words).collect(Collectors.joining(",")));
  private static final SettingType<Boolean> FLAG = new SettingType<>("BOOLEAN", "true or false",
      GatewaySettings::flag, String::valueOf);

  static final Setting<List<EngineAddress>> PREFILL =
      new Setting<>("prefill", ENGINES, NONE, "Engines that compute prompts.");
  static final Setting<List<EngineAddress>> DECODE =
      new Setting<>("decode", ENGINES, NONE, "Engines that generate from keys and values that they receive.");
  static final Setting<List<EngineAddress>> BOTH = new Setting<>("both", ENGINES, NONE, "Engines that do both.");
  static final Setting<DialectName> DIALECT = new Setting<>("dialect",
      new SettingType<>("NAME", "one of " + Arrays.stream(DialectName.values()).map(DialectName::word)
          .collect(Collectors.joining(", ")), DialectName::of, DialectName::word),
      "nixl-pull", "How a request becomes legs at a prefill and a decode engine that name no dialect of their own.");
  static final Setting<Optional<URI>> METASERVER = new Setting<>("metaserver.url",
      new SettingType<>("URL", "a URL, or auto", text -> text.equals("auto")
          ? Optional.empty()
          : Optional.of(URI.create(text)), url -> url.map(URI::toString).orElse("auto")),
      "auto", "The gateway's /v1/metaserver as engines of the layerwise dialect reach it.");

  static final Setting<Optional<Path>> ENGINE_TRUST = new Setting<>("engine.trust", SettingType.pathOrOff(), "off",
      "Authorities that certificates of engines with https may come from, PEM; off for those of the JDK. A certificate"
          + " must name the engine's host.");
  static final Setting<List<Endpoint>> REGISTRY = new Setting<>("registry", TransportSettings.addresses(), NONE,
      "Nodes whose registry names engines: they come, drain and go with it, beside those that are listed. One, or"
          + " several of a cluster, of which the next is asked if one is away.");
  static final Setting<Optional<String>> REGISTRY_MODEL = new Setting<>("registry.model",
      optional("NAME", "a name, or none", String::strip, String::strip), NONE,
      "Model whose engines are taken from the registry; none for all.");
  static final Setting<Optional<Path>> REGISTRY_TOKEN = new Setting<>("registry.token.file", SettingType.pathOrOff(),
      "off", "File whose first line is the token that the registry asks for: a reader's, or a writer's to share"
          + " quotas with other gateways.");
  static final Setting<RegistryTls> REGISTRY_TLS = new Setting<>("registry.tls", SettingType.oneOf(RegistryTls.class),
      "auto", "Whether the registry is asked with TLS: auto does if registry.trust is a file; any_host lets the"
          + " certificate name another host.");
  static final Setting<Optional<Path>> REGISTRY_TRUST = new Setting<>("registry.trust", SettingType.pathOrOff(), "off",
      "Authorities that the registry's certificate may come from, PEM; off for those of the JDK.");
  static final Setting<Duration> REGISTRY_INTERVAL = new Setting<>("registry.interval", SettingType.duration(), "1s",
      "Time between two looks at the registry.");
  static final Setting<Duration> REGISTRY_PATIENCE = new Setting<>("registry.patience", SettingType.duration(), "15s",
      "How long an engine that is missing in the registry keeps its place. One that said that it drains goes at once.");
  static final Setting<Optional<Endpoint>> POOL = new Setting<>("pool",
      optional("ADDRESS", "HOST:PORT, unix:PATH, or none", Endpoint::parse, Endpoint::toString), NONE,
      "The node where engines keep blocks. It is told when a session pauses or ends (POST /v1/sessions/NAME).");
  static final Setting<String> POOL_USER = new Setting<>("pool.user", SettingType.text(), NONE,
      "User of the gateway at the pool, with the role writer; none for one with a token.");
  static final Setting<Optional<Path>> POOL_PASSWORD = new Setting<>("pool.password.file", SettingType.pathOrOff(),
      "off", "File whose first line is the password of pool.user, or a token.");
  static final Setting<Optional<Path>> POOL_TRUST = new Setting<>("pool.tls.trust", SettingType.pathOrOff(), "off",
      "Connect to the pool with TLS, and trust the authorities in this PEM file.");

  static final Setting<Policy> POLICY = new Setting<>("policy", SettingType.oneOf(Policy.class), "prefix",
      "How instances are chosen: in turn, by chance, by load, or by the tokens that are left to compute.");
  static final Setting<Integer> BLOCK_TOKENS = new Setting<>("block.tokens", SettingType.count(1, 1 << 16), "16",
      "Tokens of a block of the engines.");
  static final Setting<Boolean> TOKENIZE = new Setting<>("tokenize", FLAG, "false",
      "Ask an engine for the tokens of texts (/tokenize), so that the blocks of its KV events are found.");
  static final Setting<Integer> RUNNING = new Setting<>("running", SettingType.count(1, 1 << 16), "256",
      "Requests that run at each answering engine at most; others wait.");
  static final Setting<Integer> QUEUE = new Setting<>("queue", SettingType.count(0, 1 << 20), "512",
      "Requests that wait at most; further ones are refused with 503.");
  static final Setting<Duration> QUEUE_TIMEOUT =
      new Setting<>("queue.timeout", SettingType.duration(), "30s", "Longest wait of a request.");
  static final Setting<Optional<Duration>> TTFT_GOAL = new Setting<>("ttft.goal",
      optional("DURATION", "a duration such as 2s, or none", Durations::parse, Durations::print),
      NONE, "Time to the first token; a request that cannot reach it is refused at once with 429.");

  static final Setting<Integer> ATTEMPTS = new Setting<>("attempts", SettingType.count(1, 16), "3",
      "Attempts before the first byte of an answer.");
  static final Setting<Integer> RESUMES = new Setting<>("resumes", SettingType.count(0, 16), "2",
      "How often an answer goes on at another engine when its own died. 0 asks engines for no token ids.");
  static final Setting<Set<ApiForm>> NATIVE_FORMS = new Setting<>("native.forms",
      new SettingType<>("FORMS", "responses and messages, separated by a comma, one of them, or none",
          GatewaySettings::forms, GatewaySettings::words),
      NONE, "Forms in which engines that do both are asked themselves; other requests become chats. Such an answer does"
          + " not go on at another engine.");
  static final Setting<Duration> FIRST_TIMEOUT = new Setting<>("first.timeout", SettingType.duration(), "2m",
      "Longest wait for the first event of a streamed answer.");
  static final Setting<Duration> IDLE_TIMEOUT = new Setting<>("idle.timeout", SettingType.duration(), "1m",
      "Longest silence of an engine in an answer.");
  static final Setting<Duration> TOTAL_TIMEOUT =
      new Setting<>("total.timeout", SettingType.duration(), "30m", "Longest time of a request.");
  static final Setting<Duration> DRAIN_TIMEOUT = new Setting<>("drain.timeout", SettingType.duration(), "30s",
      "How long requests may run on after a signal to stop.");

  static final Setting<Duration> HEALTH_INTERVAL =
      new Setting<>("health.interval", SettingType.duration(), "2s", "Time between two probes of an engine.");
  static final Setting<Duration> HEALTH_TIMEOUT =
      new Setting<>("health.timeout", SettingType.duration(), "1s", "Longest wait for a probe.");
  static final Setting<Integer> HEALTH_DOWN = new Setting<>("health.down", SettingType.count(1, 1000), "3",
      "Failures in a row after which an engine gets no requests.");
  static final Setting<Integer> HEALTH_UP = new Setting<>("health.up", SettingType.count(1, 1000), "2",
      "Successes in a row after which it gets requests again.");

  static final Setting<String> HOST =
      new Setting<>("listen.host", SettingType.host(), "127.0.0.1", "Address of the endpoints of clients.");
  static final Setting<Integer> PORT = new Setting<>("listen.port", SettingType.count(0, 65_535), "8000",
      "Port of the endpoints of clients; 0 for any free one.");
  static final Setting<String> ADMIN_HOST =
      new Setting<>("admin.host", SettingType.host(), "127.0.0.1",
          "Address of /metrics, /health, /gateways and /instances.");
  static final Setting<PortChoice> ADMIN_PORT =
      new Setting<>("admin.port", SettingType.portOrOff(), "8001",
          "Port of /metrics, /health, /gateways and /instances, or off.");
  static final Setting<Optional<Path>> ADMIN_TOKEN = new Setting<>("admin.token.file", SettingType.pathOrOff(), "off",
      "File with the token that operators show to change instances; created with a random one if it is missing.");
  static final Setting<Optional<Path>> KEYS = new Setting<>("keys.file", SettingType.pathOrOff(), "off",
      "File of API keys: tokens of users, as penstock password makes them. A user is a tenant.");
  static final Setting<Optional<Path>> QUOTAS = new Setting<>("quotas.file", SettingType.pathOrOff(), "off",
      "File of quotas: a tenant or * a line, then requests=N, tokens=N (a minute), parallel=N, priority=N. With a"
          + " registry they hold over all its gateways.");
  static final Setting<Boolean> OPEN = new Setting<>("open.to.network", FLAG, "false",
      "Whether strangers beyond this host may ask without API keys.");
  static final Setting<Optional<Path>> TLS_CERT =
      new Setting<>("tls.cert", SettingType.pathOrOff(), "off", "Certificate chain of the endpoints, PEM.");
  static final Setting<Optional<Path>> TLS_KEY =
      new Setting<>("tls.key", SettingType.pathOrOff(), "off", "Private key of the certificate, PEM.");
  static final Setting<Duration> RELOAD = new Setting<>("reload.interval", SettingType.duration(), "10s",
      "How often the files of keys, quotas and certificates are looked at.");
  static final Setting<Integer> BODY_BYTES = new Setting<>("body.bytes", SettingType.size(1 << 10, 1 << 30), "32MiB",
      "Longest body of a request.");
  static final Setting<Integer> HEADER_BYTES = new Setting<>("header.bytes", SettingType.size(1 << 10, 1 << 20),
      "16KiB", "Longest head of a request.");
  static final Setting<Duration> BODY_TIMEOUT = new Setting<>("body.timeout", SettingType.duration(), "30s",
      "Longest time in which the head of a request must arrive, and then its body.");
  static final Setting<Duration> SEND_TIMEOUT = new Setting<>("send.timeout", SettingType.duration(), "30s",
      "Longest time in which a client takes nothing of its answer; its connection is then closed.");
  static final Setting<Integer> CONNECTIONS = new Setting<>("connections", SettingType.count(1, 1 << 20), "4096",
      "Connections of clients at most.");
  static final Setting<LogLevel> LOG_LEVEL =
      new Setting<>("log.level", SettingType.oneOf(LogLevel.class), "info", "Least level that is logged.");

  static final List<Topic> TOPICS = List.of(
      Topic.of("Engines", PREFILL, DECODE, BOTH, DIALECT, METASERVER, ENGINE_TRUST),
      Topic.of("Registry", REGISTRY, REGISTRY_MODEL, REGISTRY_TOKEN, REGISTRY_TLS, REGISTRY_TRUST, REGISTRY_INTERVAL,
          REGISTRY_PATIENCE),
      Topic.of("Pool", POOL, POOL_USER, POOL_PASSWORD, POOL_TRUST),
      Topic.of("Choice and admission", POLICY, BLOCK_TOKENS, TOKENIZE, RUNNING, QUEUE, QUEUE_TIMEOUT, TTFT_GOAL),
      Topic.of("Life of a request", ATTEMPTS, RESUMES, NATIVE_FORMS, FIRST_TIMEOUT, IDLE_TIMEOUT, TOTAL_TIMEOUT,
          DRAIN_TIMEOUT),
      Topic.of("Health of engines", HEALTH_INTERVAL, HEALTH_TIMEOUT, HEALTH_DOWN, HEALTH_UP),
      Topic.of("Endpoints", HOST, PORT, ADMIN_HOST, ADMIN_PORT, ADMIN_TOKEN, KEYS, QUOTAS, OPEN, TLS_CERT, TLS_KEY,
          RELOAD, BODY_BYTES, HEADER_BYTES, BODY_TIMEOUT, SEND_TIMEOUT, CONNECTIONS, LOG_LEVEL));
  static final List<Setting<?>> ALL =
      TOPICS.stream().<Setting<?>>flatMap(topic -> topic.settings().stream()).toList();

  private GatewaySettings() {}

  private static <T> SettingType<Optional<T>> optional(String label, String rule, Function<String, T> read,
      Function<T, String> print) {
    return new SettingType<>(label, rule,
        text -> text.strip().equals(NONE) ? Optional.empty() : Optional.of(read.apply(text.strip())),
        value -> value.map(print).orElse(NONE));
  }

  static String variable(Setting<?> setting) {
    return setting.variable().replace("PENSTOCK_", "PENSTOCK_GATEWAY_");
  }

  private static List<EngineAddress> engines(String text) {
    return text.strip().equals(NONE)
        ? List.of()
        : Arrays.stream(text.split(",", -1)).map(String::strip).map(EngineAddress::parse).toList();
  }

  private static String words(EngineAddress address) {
    return address.settings().isEmpty()
        ? address.toString()
        : address + "#" + address.settings().entrySet().stream().map(one -> one.getKey() + "=" + one.getValue())
            .sorted().collect(Collectors.joining("&"));
  }

  private static Set<ApiForm> forms(String text) {
    Set<ApiForm> forms = EnumSet.noneOf(ApiForm.class);
    for (String word : text.strip().equals(NONE) ? new String[0] : text.split(",", -1)) {
      forms.add(switch (word.strip()) {
        case "responses" -> ApiForm.RESPONSES;
        case "messages" -> ApiForm.MESSAGES;
        default -> throw new IllegalArgumentException();
      });
    }
    return forms;
  }

  private static String words(Set<ApiForm> forms) {
    return forms.isEmpty()
        ? NONE
        : forms.stream().map(form -> form.name().toLowerCase(Locale.ROOT)).sorted(Comparator.reverseOrder())
            .collect(Collectors.joining(","));
  }

  private static boolean flag(String text) {
    if (!text.equals("true") && !text.equals("false")) {
      throw new IllegalArgumentException();
    }
    return Boolean.parseBoolean(text);
  }
}
