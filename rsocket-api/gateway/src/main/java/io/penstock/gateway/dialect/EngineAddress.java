package io.penstock.gateway.dialect;

import java.net.URI;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/// Where an engine answers, and what a dialect must know about it. The settings stand in the fragment of the address,
/// which is never sent: `http://10.0.0.1:8100#dialect=mooncake&bootstrap-port=8998`.
///
/// @param url the base of its endpoints, without a fragment
/// @param settings the settings by name
public record EngineAddress(URI url, Map<String, String> settings) {
  static final String DIALECT = "dialect";
  static final String BOOTSTRAP_HOST = "bootstrap-host";
  static final String BOOTSTRAP_PORT = "bootstrap-port";
  static final String ENGINE_ID = "engine-id";
  /// Host at which an engine hands blocks over.
  public static final String KV_HOST = "kv-host";
  /// Port at which an engine hands blocks over.
  public static final String KV_PORT = "kv-port";
  static final String TP_SIZE = "tp-size";
  static final String PP_SIZE = "pp-size";
  static final String PROMPT_LIST = "prompt-list";
  static final String BATCH = "batch";
  /// Address of the engine's KV events, `tcp://HOST:PORT`.
  public static final String EVENTS = "events";
  /// Address at which missed events are asked for again.
  public static final String EVENTS_REPLAY = "events-replay";
  /// First bytes of the messages that are read.
  public static final String EVENTS_TOPIC = "events-topic";
  /// Who publishes: `engine`, or `node` for the node that keeps the engine's blocks.
  public static final String EVENTS_OF = "events-of";
  private static final Set<String> PUBLISHERS = Set.of("engine", "node");
  private static final Set<String> NUMBERS = Set.of(BOOTSTRAP_PORT, KV_PORT, TP_SIZE, PP_SIZE);
  private static final Set<String> NAMES = new TreeSet<>(
      Set.of(DIALECT, BOOTSTRAP_HOST, BOOTSTRAP_PORT, ENGINE_ID, KV_HOST, KV_PORT, TP_SIZE, PP_SIZE, PROMPT_LIST,
          EVENTS,
          EVENTS_REPLAY, EVENTS_TOPIC, EVENTS_OF));
  private static final int MAX_PORT = 65_535;

  public EngineAddress {
    if (!Set.of("http", "https").contains(String.valueOf(url.getScheme())) || url.getHost() == null) {
      throw new IllegalArgumentException("engine must be an http or https URL with a host (was " + url + ")");
    }
    settings = Map.copyOf(settings);
    settings.forEach(EngineAddress::check);
    for (String name : List.of(EVENTS_REPLAY, EVENTS_TOPIC, EVENTS_OF)) {
      if (settings.containsKey(name) && !settings.containsKey(EVENTS)) {
        throw new IllegalArgumentException(name + " must come with " + EVENTS + " (was alone)");
      }
    }
  }

  /// Reads an address with its settings.
  public static EngineAddress parse(String text) {
    int hash = text.indexOf('#');
    String base = hash < 0 ? text : text.substring(0, hash);
    Map<String, String> settings = new LinkedHashMap<>();
    if (hash >= 0) {
      for (String pair : text.substring(hash + 1).split("&", -1)) {
        int equals = pair.indexOf('=');
        if (equals <= 0) {
          throw new IllegalArgumentException("setting of engine " + base + " must be NAME=VALUE (was " + pair + ")");
        }
        if (settings.put(pair.substring(0, equals), pair.substring(equals + 1)) != null) {
          throw new IllegalArgumentException(
              "settings of engine " + base + " must name each setting once (was " + pair.substring(0, equals) + ")");
        }
      }
    }
    return new EngineAddress(URI.create(base.endsWith("/") ? base.substring(0, base.length() - 1) : base), settings);
  }

  /// The dialect that this engine's settings ask for.
  public Optional<DialectName> dialect() {
    return setting(DIALECT).map(DialectName::of);
  }

  /// The value of a setting; empty if it is not given.
  public Optional<String> setting(String name) {
    return Optional.ofNullable(settings.get(name));
  }

  int number(String name, int otherwise) {
    return setting(name).map(Integer::parseInt).orElse(otherwise);
  }

  URI at(String path) {
    return URI.create(url + path);
  }

  /// The host with the brackets of an IPv6 address.
  String host() {
    return url.getHost();
  }

  @Override
  public String toString() {
    return url.toString();
  }

  private static void check(String name, String value) {
    if (!NAMES.contains(name)) {
      throw new IllegalArgumentException("setting of an engine must be one of " + NAMES + " (was " + name + ")");
    }
    if (NUMBERS.contains(name) && !(value.matches("[0-9]{1,5}") && isNumber(Integer.parseInt(value)))) {
      throw new IllegalArgumentException(name + " must be a number from 1 to " + MAX_PORT + " (was " + value + ")");
    }
    if (name.equals(PROMPT_LIST) && !Set.of("split", BATCH).contains(value)) {
      throw new IllegalArgumentException(PROMPT_LIST + " must be split or batch (was " + value + ")");
    }
    if (name.equals(EVENTS_OF) && !PUBLISHERS.contains(value)) {
      throw new IllegalArgumentException(EVENTS_OF + " must be engine or node (was " + value + ")");
    }
    if (name.equals(DIALECT)) {
      DialectName.of(value);
    }
  }

  private static boolean isNumber(int value) {
    return value >= 1 && value <= MAX_PORT;
  }
}
