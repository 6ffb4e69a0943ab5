package io.penstock.gateway;

import static java.util.Objects.requireNonNull;

import io.penstock.gateway.http.AdminRoutes;
import io.penstock.node.serve.BindFailure;
import io.penstock.node.setting.Origin;
import io.penstock.node.setting.Setting;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.dataformat.yaml.YAMLMapper;

/// The settings in effect and their origins: defaults, then a file, then the environment, then flags.
final class GatewayConfig {
  /// One setting in effect.
  ///
  /// @param source `default`, `file`, `environment` or `flag`
  record Row(String key, String value, String source, String origin, String variable, String flag) {}

  private final Map<Setting<?>, Object> values = new HashMap<>();
  private final List<Row> rows = new ArrayList<>();

  private record Given(String text, Origin origin) {}

  private GatewayConfig(Map<Setting<?>, Given> given, List<String> problems) {
    given.forEach((setting, one) -> keep(setting, one, problems));
    if (problems.isEmpty()) {
      requireRules(problems);
    }
    if (!problems.isEmpty()) {
      throw new IllegalArgumentException(String.join("\n", problems));
    }
  }

  /// Resolves all settings.
  ///
  /// @throws IllegalArgumentException naming every problem
  static GatewayConfig resolve(@Nullable Path file, Map<String, String> environment, Map<Setting<?>, String> flags)
      throws IOException {
    List<String> problems = new ArrayList<>();
    Map<Setting<?>, Given> given = new LinkedHashMap<>();
    GatewaySettings.ALL.forEach(setting -> given.put(setting, new Given(setting.initial(), Origin.ofDefault())));
    if (file != null) {
      readFile(file, given, problems);
    }
    for (Setting<?> setting : GatewaySettings.ALL) {
      String text = environment.get(GatewaySettings.variable(setting));
      if (text != null) {
        given.put(setting, new Given(text, Origin.ofEnvironment(GatewaySettings.variable(setting))));
      }
    }
    flags.forEach((setting, text) -> given.put(setting, new Given(text, Origin.ofFlag(setting.flag()))));
    return new GatewayConfig(given, problems);
  }

  private static void readFile(Path file, Map<Setting<?>, Given> given, List<String> problems) throws IOException {
    Map<String, String> texts = new LinkedHashMap<>();
    try {
      flatten("", YAMLMapper.builder().build().readTree(Files.readString(file)), texts);
    } catch (JacksonException e) {
      throw new IllegalArgumentException("config must be YAML (was not: " + e.getOriginalMessage() + ")", e);
    }
    texts.forEach((key, text) -> GatewaySettings.ALL.stream().filter(setting -> setting.key().equals(key)).findFirst()
        .ifPresentOrElse(known -> given.put(known, new Given(text, new Origin(Origin.Kind.FILE, file.toString()))),
            () -> problems.add("key of " + file + " must be a setting (was " + key + ")")));
  }

  private static void flatten(String prefix, JsonNode node, Map<String, String> texts) {
    for (Map.Entry<String, JsonNode> entry : node.properties()) {
      String key = prefix + entry.getKey();
      JsonNode value = entry.getValue();
      if (value.isObject()) {
        flatten(key + ".", value, texts);
      } else if (value.isArray()) {
        List<String> all = new ArrayList<>();
        value.forEach(each -> all.add(each.asString()));
        texts.put(key, String.join(",", all));
      } else {
        texts.put(key, value.asString());
      }
    }
  }

  private <T> void keep(Setting<T> setting, Given one, List<String> problems) {
    try {
      T value = setting.read(one.text(), one.origin());
      values.put(setting, value);
      rows.add(new Row(setting.key(), setting.type().print().apply(value),
          one.origin().kind().name().toLowerCase(Locale.ROOT), one.origin().where(),
          GatewaySettings.variable(setting), setting.flag()));
    } catch (IllegalArgumentException e) {
      String why = e.getCause() == null ? "" : String.valueOf(e.getCause().getMessage());
      boolean isOfAPart = why.contains(" must "); // which breaks a rule of its own
      problems.add(e.getMessage() + (isOfAPart ? ": " + why : ""));
    }
  }

  private void requireRules(List<String> problems) {
    if (get(GatewaySettings.TLS_CERT).isPresent() != get(GatewaySettings.TLS_KEY).isPresent()) {
      problems.add("tls.cert and tls.key must be given together (was one of them)");
    }
    if (!get(GatewaySettings.POOL_USER).equals("none") && get(GatewaySettings.POOL_PASSWORD).isEmpty()) {
      problems.add("pool.password.file must be given for pool.user (was not)");
    }
    boolean isLocal = List.of("127.0.0.1", "localhost", "::1").contains(get(GatewaySettings.HOST));
    if (!isLocal && get(GatewaySettings.KEYS).isEmpty() && !get(GatewaySettings.OPEN)) {
      problems.add("keys.file must be given where listen.host is beyond this host, or open.to.network be true (was "
          + get(GatewaySettings.HOST) + " without)");
    }
    requireNewNames(problems);
    if (get(GatewaySettings.PREFILL).isEmpty() != get(GatewaySettings.DECODE).isEmpty()) {
      problems
          .add("prefill and decode must be given together (was one of them); engines that do both are given by both");
    }
  }

  /// An engine has one name, which is where it listens, so it has one role.
  private void requireNewNames(List<String> problems) {
    Set<String> names = new HashSet<>();
    Stream.of(GatewaySettings.PREFILL, GatewaySettings.DECODE, GatewaySettings.BOTH)
        .flatMap(setting -> get(setting).stream()).filter(address -> !names.add(AdminRoutes.nameOf(address))).distinct()
        .forEach(address -> problems
            .add("prefill, decode and both must name each engine once (was again " + address + ")"));
  }

  <T> T get(Setting<T> setting) {
    @SuppressWarnings("unchecked") // keep() reads the value with the setting's own type
    T value = (T) requireNonNull(values.get(setting), setting.key());
    return value;
  }

  /// A setting as it was given, for messages.
  BindFailure.Said said(Setting<?> setting) {
    Row row = rows.stream().filter(each -> each.key().equals(setting.key())).findFirst().orElseThrow();
    return new BindFailure.Said(row.key(), row.flag(), row.value(), row.origin());
  }

  List<Row> rows() {
    return List.copyOf(rows);
  }
}
