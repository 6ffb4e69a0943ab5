package io.penstock.lab.plan;

import io.penstock.lab.plan.ProxyInstances.Load;
import io.penstock.node.plan.Case;
import io.penstock.node.plan.FieldException;
import io.penstock.node.plan.Fields;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// Cases of a proxy that chooses instances: scores, and steps of a trace, each of which continues from the recorded
/// state of the step before it.
final class ProxyRules {
  private static final String PREFILL = "prefill";
  private static final String DECODE = "decode";

  private static final List<String> RELEASE = List.of("key", "load");
  private static final List<String> INSTANCES = List.of("role", "instances");
  private static final Map<String, List<String>> ARGUMENTS = Map.of("release_prefill_kv", RELEASE, "release_decoder",
      RELEASE, "finish_request", List.of("prefiller_key", "prefiller_load", "decoder_key", "decoder_load",
          "release_prefill_kv"),
      "add_instances", INSTANCES, "remove_instances", INSTANCES, "activate_waiting_instance",
      List.of("role", "host", "port"));

  private final ProxyInstances prefill;
  private final ProxyInstances decode;
  private final Fields step;
  private int requests;

  private ProxyRules(Fields step, Fields before, boolean fresh) {
    this.step = step;
    this.prefill = instances(before, PREFILL, fresh);
    this.decode = instances(before, DECODE, fresh);
    this.requests = fresh ? 0 : before.count("request_num");
  }

  static Map<String, Object> score(Case one) {
    return Map.of("score", ProxyInstances.prefillScore(one.fields().bytes("request_bytes")));
  }

  static Map<String, Object> step(Case one) {
    JsonNode before = one.before();
    return before == null
        ? firstStep(one)
        : new ProxyRules(one.fields(), new Fields("before", before).at("state"), false).answer(true);
  }

  /// A trace begins with instances without load, or is the later part of a longer one. The state before the first step
  /// of a later part is unknown, so it is taken as recorded, and only the choice of the step is checked.
  private static Map<String, Object> firstStep(Case one) {
    Fields state = one.fields().at("state");
    ProxyRules later = new ProxyRules(one.fields(), state, false);
    later.undoPick(one.json().path("result").path("key").asString(""));
    boolean begins = later.isIdle() && later.requests == (later.step.text("op").equals("begin_request") ? 1 : 0);
    return begins ? new ProxyRules(one.fields(), state, true).answer(true) : later.answer(false);
  }

  private Map<String, Object> answer(boolean withState) {
    Map<String, Object> answer = new LinkedHashMap<>();
    answer.put("result", apply());
    if (withState) {
      answer.put("state", state());
    }
    return answer;
  }

  private boolean isIdle() {
    return Stream.of(prefill, decode).flatMap(role -> role.loads().values().stream())
        .allMatch(load -> load.tokens() == 0 && load.kv() == 0);
  }

  /// Takes the load of this step from the instance that it picked.
  private void undoPick(String picked) {
    switch (step.text("op")) {
      case "begin_request", "reserve_prefill_kv" -> prefill.charge(picked, 0, -argument(0));
      case "pick_decoder" -> decode.charge(picked, -argument(0), 0);
      default -> { // no other step picks
      }
    }
  }

  /// A trace begins with the instances of its first state, and no load.
  private static ProxyInstances instances(Fields state, String role, boolean fresh) {
    ProxyInstances instances = new ProxyInstances();
    Fields loads = state.at(role);
    for (String name : loads.node().propertyNames()) {
      instances.add(name, fresh ? Load.NONE : load(loads, name, role));
    }
    if (!fresh) {
      state.at("tainted").texts(role).forEach(instances::leave);
    }
    return instances;
  }

  private static Load load(Fields loads, String name, String role) {
    if (role.equals(DECODE)) {
      return new Load(loads.number(name), 0);
    }
    List<Double> both = loads.numbers(name);
    if (both.size() != 2) {
      throw loads.refused(name, "must be a token and a KV load", both);
    }
    return new Load(both.getFirst(), both.getLast());
  }

  private @Nullable Object apply() {
    String op = step.text("op");
    switch (op) {
      case "begin_request" -> {
        requests++;
        return pick(prefill, 0, argument(0));
      }
      case "reserve_prefill_kv" -> {
        return pick(prefill, 0, argument(0));
      }
      case "pick_decoder" -> {
        return pick(decode, argument(0), 0);
      }
      case "release_prefill_kv" -> prefill.charge(text(0), 0, -argument(1));
      case "release_decoder" -> decode.charge(text(0), -argument(1), 0);
      case "finish_request" -> finish();
      case "remove_instances" -> {
        return remove(role(0), hosts(1));
      }
      case "finalize_tainted_instances" -> {
        removeLeaving(prefill);
        removeLeaving(decode);
      }
      case "add_instances" -> {
        ProxyInstances known = role(0);
        return hosts(1).stream().filter(host -> !known.loads().containsKey(host)).toList();
      }
      case "activate_waiting_instance" -> role(0).add(text(1) + ":" + (int) argument(2), Load.NONE);
      case "drop_waiting_instance", "mark_waiting_retry" -> { // waiting instances are not part of the state
      }
      default -> throw step.refused("op", "must be one of the proxy's", op);
    }
    return null;
  }

  private void finish() {
    if (!any(4).isBoolean()) {
      throw malformed(4, "true or false");
    }
    if (any(4).booleanValue() && any(0).isString()) {
      prefill.charge(text(0), 0, -argument(1));
    }
    if (any(2).isString()) {
      decode.charge(text(2), -argument(3), 0);
    }
    requests = Math.max(0, requests - 1);
  }

  private boolean remove(ProxyInstances instances, List<String> hosts) {
    boolean busy = requests > 0 && !hosts.isEmpty();
    hosts.forEach(busy ? instances::leave : instances::remove);
    return busy;
  }

  private void removeLeaving(ProxyInstances instances) {
    if (requests == 0) {
      List.copyOf(instances.leaving()).forEach(instances::remove);
    }
  }

  private static Map<String, Object> pick(ProxyInstances instances, double tokens, double kv) {
    Optional<String> next = instances.next();
    if (next.isEmpty()) {
      return Map.of("error", "RuntimeError");
    }
    String key = next.get();
    instances.charge(key, tokens, kv);
    int colon = key.lastIndexOf(':');
    return Map.of("key", key, "host", key.substring(0, Math.max(0, colon)), "port",
        port(key, key.substring(colon + 1)));
  }

  private static int port(String instance, String port) {
    if (!port.matches("\\d{1,5}")) {
      throw new FieldException("instance", "must be a host and a port", instance);
    }
    return Integer.parseInt(port);
  }

  /// An argument by its place, or by its name behind those.
  private JsonNode any(int argument) {
    JsonNode arguments = step.any("args");
    JsonNode found = arguments.size() > argument
        ? arguments.path(argument)
        : step.node().path("kwargs").path(ARGUMENTS.getOrDefault(step.text("op"), List.of("load")).get(argument));
    if (found.isMissingNode()) {
      throw malformed(argument, "given");
    }
    return found;
  }

  private FieldException malformed(int argument, String rule) {
    JsonNode found = step.any("args").path(argument);
    return step.refused("args[" + argument + "]", "must be " + rule, found.isMissingNode() ? "left out" : found);
  }

  private double argument(int number) {
    if (!any(number).isNumber()) {
      throw malformed(number, "a number");
    }
    return any(number).doubleValue();
  }

  private String text(int number) {
    if (!any(number).isString()) {
      throw malformed(number, "a text");
    }
    return any(number).stringValue();
  }

  private ProxyInstances role(int number) {
    return switch (text(number)) {
      case PREFILL -> prefill;
      case DECODE -> decode;
      default -> throw malformed(number, "prefill or decode");
    };
  }

  private List<String> hosts(int number) {
    List<String> hosts = new ArrayList<>();
    for (JsonNode host : any(number)) {
      if (!host.path(0).isString() || !host.path(1).canConvertToInt()) {
        throw malformed(number, "a list of hosts, each with its port");
      }
      hosts.add(host.path(0).stringValue() + ":" + host.path(1).intValue());
    }
    return hosts;
  }

  private Map<String, Object> state() {
    Map<String, Object> prefillLoads = new LinkedHashMap<>();
    prefill.loads().forEach((name, load) -> prefillLoads.put(name, List.of(load.tokens(), load.kv())));
    Map<String, Object> decodeLoads = new LinkedHashMap<>();
    decode.loads().forEach((name, load) -> decodeLoads.put(name, load.tokens()));
    return Map.of(PREFILL, prefillLoads, DECODE, decodeLoads, "request_num", requests, "tainted",
        Map.of(PREFILL, List.copyOf(prefill.leaving()), DECODE, List.copyOf(decode.leaving())));
  }
}
