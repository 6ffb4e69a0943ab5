package io.penstock.gateway.dialect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.penstock.gateway.engines.Answers;
import io.penstock.gateway.engines.LayerwiseDecode;
import io.penstock.gateway.engines.LayerwisePrefill;
import io.penstock.gateway.engines.MooncakePrefill;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.test.scheduler.VirtualTimeScheduler;
import tools.jackson.databind.node.ObjectNode;

/// Each rule of each engine, broken on purpose between the dialect and the engine: the engine refuses, the client is
/// told by which leg, and no engine is left waiting.
class DialectRulesTest {
  private static final Duration LIMIT = Duration.ofSeconds(10);
  private static final String LIST = "{\"prompt\":[\"a\",\"b\"],\"max_tokens\":2}";
  private static final EnginePair BATCHING =
      EnginePair.of(EngineAddress.parse(Rig.PREFILL + "#prompt-list=batch"), EngineAddress.parse(Rig.DECODE));
  private static final String BODY = "{\"prompt\":\"a b c\",\"max_tokens\":3,\"stream\":true}";

  /// A rule that is broken in one leg.
  private record Broken(DialectName dialect, Leg.Role role, String what, Function<Leg, Leg> change, String refusal) {
    @Override
    public String toString() {
      return dialect.word() + ", " + role.word() + ": " + what;
    }
  }

  static Stream<Broken> rules() {
    List<Broken> all = new ArrayList<>();
    for (String name : List.of("remote_engine_id", "remote_request_id", "remote_host", "remote_port",
        "remote_block_ids")) {
      all.add(without(DialectName.NIXL_PULL, Leg.Role.DECODE, name, "Got invalid KVTransferParams: " + name));
    }
    all.add(without(DialectName.NIXL_PULL, Leg.Role.PREFILL, "do_remote_decode", "do_remote_decode"));
    all.add(transfer(DialectName.NIXL_PULL, Leg.Role.PREFILL, "a host too early", t -> t.put("remote_host", "h"),
        "remote_host of a prefill must be null"));
    all.add(transfer(DialectName.NIXL_PULL, Leg.Role.DECODE, "unknown engine", t -> t.put("remote_engine_id", "x"),
        "engine x is unknown"));
    all.add(transfer(DialectName.NIXL_PULL, Leg.Role.DECODE, "decode first", t -> t.put("remote_request_id", "early"),
        "prefill holds no blocks for early"));
    all.add(body(DialectName.NIXL_PULL, Leg.Role.PREFILL, "many tokens", b -> b.put("max_tokens", 3), "max_tokens"));
    all.add(body(DialectName.NIXL_PULL, Leg.Role.PREFILL, "min_tokens", b -> b.put("min_tokens", 2), "min_tokens"));
    all.add(body(DialectName.NIXL_PULL, Leg.Role.PREFILL, "stream options", b -> b.putObject("stream_options"),
        "Stream options"));
    all.add(body(DialectName.NIXL_PULL, Leg.Role.DECODE, "two prompts", b -> b.putArray("prompt").add("a b c").add("d"),
        "one transfer carries one prompt"));
    all.add(body(DialectName.NIXL_PULL, Leg.Role.DECODE, "two choices", b -> b.put("n", 2), "one reader"));
    all.add(anonymous(DialectName.NIXL_PULL, Leg.Role.DECODE));
    all.add(without(DialectName.MOONCAKE, Leg.Role.PREFILL, "transfer_id", "Missing transfer_id"));
    all.add(without(DialectName.MOONCAKE, Leg.Role.PREFILL, "do_remote_decode", "do_remote_decode"));
    for (String name : List.of("remote_engine_id", "remote_bootstrap_addr", "transfer_id")) {
      all.add(without(DialectName.MOONCAKE, Leg.Role.DECODE, name, "Got invalid KVTransferParams: " + name));
    }
    all.add(transfer(DialectName.MOONCAKE, Leg.Role.DECODE, "unknown engine", t -> t.put("remote_engine_id", "x"),
        "engine x is unknown"));
    all.add(transfer(DialectName.MOONCAKE, Leg.Role.DECODE, "other bootstrap server",
        t -> t.put("remote_bootstrap_addr", "http://h:1"), "no bootstrap server at http://h:1"));
    all.add(header(DialectName.MOONCAKE, Leg.Role.PREFILL, "no rank", h -> h.remove(MooncakeDialect.RANK), "rank"));
    all.add(header(DialectName.MOONCAKE, Leg.Role.PREFILL, "rank 9", h -> h.put(MooncakeDialect.RANK, "9"), "rank"));
    all.add(anonymous(DialectName.MOONCAKE, Leg.Role.PREFILL));
    all.add(without(DialectName.NIXL_PUSH, Leg.Role.PREFILL, "transfer_id", "transfer_id is missing"));
    for (String name : List.of("remote_engine_id", "remote_host", "remote_port", "tp_size", "transfer_id")) {
      all.add(without(DialectName.NIXL_PUSH, Leg.Role.DECODE, name, name + " is missing"));
    }
    all.add(transfer(DialectName.NIXL_PUSH, Leg.Role.DECODE, "wrong port", t -> t.put("remote_port", 1),
        "no handshake"));
    all.add(without(DialectName.LAYERWISE, Leg.Role.DECODE, "metaserver", "metaserver is missing"));
    all.add(transfer(DialectName.LAYERWISE, Leg.Role.DECODE, "wildcard",
        t -> t.put("metaserver", "http://0.0.0.0:8000/v1/metaserver"), "wildcard"));
    all.add(without(DialectName.LAYERWISE, Leg.Role.PREFILL, "remote_block_ids", "blocks"));
    all.add(transfer(DialectName.LAYERWISE, Leg.Role.PREFILL, "unknown engine", t -> t.put("remote_engine_id", "x"),
        "engine is unknown"));
    all.add(header(DialectName.LAYERWISE, Leg.Role.PREFILL, "another id", h -> h.put(Legs.REQUEST_ID, "z"),
        "cmpl-z-0"));
    all.add(anonymous(DialectName.LAYERWISE, Leg.Role.DECODE));
    for (Leg.Role role : List.of(Leg.Role.PREFILL, Leg.Role.DECODE)) {
      all.add(body(DialectName.SGLANG, role, "no room", b -> b.remove("bootstrap_room"), "without bootstrap room id"));
      all.add(body(DialectName.SGLANG, role, "no host", b -> b.remove("bootstrap_host"), "no bootstrap server"));
      all.add(body(DialectName.SGLANG, role, "other port", b -> b.put("bootstrap_port", 1), "no bootstrap server"));
      all.add(body(DialectName.SGLANG, role, "room below 0", b -> b.put("bootstrap_room", -1), "0 to 2^63-1"));
      all.add(body(DialectName.SGLANG, role, "no rid", b -> b.remove("rid"), "rid"));
    }
    return all.stream();
  }

  @ParameterizedTest
  @MethodSource("rules")
  void anEngineRefusesALegThatBreaksARule(Broken broken) {
    DirectClient client = new DirectClient();
    Rig rig = Rig.direct(broken.dialect(), client);
    client.tampering(leg -> leg.role() == broken.role() ? broken.change().apply(leg) : leg);
    Dialects dialects = rig.dialects(client, Rig.METASERVER, new Random(1), Schedulers.parallel());
    knowCoordinates(rig, client, dialects, broken);
    LegFailure failure = catchThrowableOfType(LegFailure.class,
        () -> dialects.answer(Rig.request("/v1/completions", BODY), rig.pair()).blockLast(LIMIT));
    assertThat(failure.role()).isEqualTo(broken.role());
    assertThat(failure.clientStatus()).isEqualTo(400);
    assertThat(failure.isTransient()).isFalse();
    assertThat(failure.body()).contains(broken.refusal());
    assertThat(rig.network.waiting()).isZero();
    assertThat(rig.metaserver.children()).isZero();
    assertThat(rig.prefill.running() + rig.decode.running()).isZero();
  }

  /// The same with a list of prompts at the layer-wise prefill.
  @Test
  void aListOfPromptsNeedsTheReportOfEachChild() {
    DirectClient client = new DirectClient();
    Rig rig = Rig.direct(DialectName.LAYERWISE, client);
    ((LayerwisePrefill) rig.prefill).readingBatches();
    client.tampering(leg -> leg.role() != Leg.Role.PREFILL
        ? leg
        : changed(leg, body -> ((ObjectNode) body.path("kv_transfer_params")).remove("batch_kv_transfer_params")));
    Dialects dialects = rig.dialects(client, Rig.METASERVER, new Random(1), Schedulers.parallel());
    LegFailure failure = catchThrowableOfType(LegFailure.class,
        () -> dialects.answer(Rig.request("/v1/completions", LIST), BATCHING).blockLast(LIMIT));
    assertThat(failure.body()).contains("transfer parameters of cmpl-r1-").contains("are missing");
  }

  /// A list is split unless the prefill's settings say that it reads the parameters of each child.
  @Test
  void aListOfPromptsHasOnePrefillWhereItReadsBatches() {
    DirectClient client = new DirectClient();
    Rig rig = Rig.direct(DialectName.LAYERWISE, client);
    Dialects dialects = rig.dialects(client, Rig.METASERVER, new Random(1), Schedulers.parallel());
    EngineRequest request = Rig.request("/v1/completions", LIST);
    List<String> expected = Answers.expected(Json.tree(LIST), false);
    assertThat(Collected.of(dialects.answer(request, rig.pair()).collectList().block(LIMIT)).choices())
        .isEqualTo(expected);
    assertThat(rig.prefill.calls()).hasSize(2);
    LegFailure failure = catchThrowableOfType(LegFailure.class,
        () -> dialects.answer(request, BATCHING).blockLast(LIMIT));
    assertThat(failure.body()).contains("all children would be written into the blocks of the first");
    ((LayerwisePrefill) rig.prefill).readingBatches();
    assertThat(Collected.of(dialects.answer(request, BATCHING).collectList().block(LIMIT)).choices())
        .isEqualTo(expected);
    assertThat(rig.prefill.calls()).hasSize(4);
    assertThat(rig.prefill.refusals()).hasSize(1);
    assertThat(((LayerwiseDecode) rig.decode).answers()).containsExactly(200, 200, 502, 502, 200, 200);
  }

  /// A prefill that ends by a stop word has cancelled its transfer; decode would wait for ever.
  @Test
  void aPrefillThatDoesNotFinishByLengthEndsTheDecodeLeg() {
    DirectClient client = new DirectClient();
    Rig rig = Rig.direct(DialectName.MOONCAKE, client);
    client.tampering(leg -> leg.role() == Leg.Role.PREFILL ? changed(leg, body -> body.put("stop", "x")) : leg);
    Dialects dialects = rig.dialects(client, Rig.METASERVER, new Random(1), Schedulers.parallel());
    LegFailure failure = catchThrowableOfType(LegFailure.class,
        () -> dialects.answer(Rig.request("/v1/completions", BODY), rig.pair()).blockLast(LIMIT));
    assertThat(failure).hasMessageContaining("must finish by length").hasMessageContaining("was stop");
    assertThat(failure.role()).isEqualTo(Leg.Role.PREFILL);
    assertThat(failure.clientStatus()).isEqualTo(502);
    assertThat(rig.network.waiting()).isZero();
  }

  @Test
  void engineIdsAreUnknownUntilARankHasRegistered() {
    DirectClient client = new DirectClient();
    Rig rig = Rig.direct(DialectName.MOONCAKE, client);
    MooncakePrefill late = new MooncakePrefill(rig.network, List.of("m0"));
    client.engine("http://prefill:8998", late);
    Dialects dialects = rig.dialects(client, Rig.METASERVER, new Random(1), Schedulers.parallel());
    Flux<AnswerEvent> answer = dialects.answer(Rig.request("/v1/completions", BODY), rig.pair());
    RequestFailure failure = catchThrowableOfType(RequestFailure.class, () -> answer.blockLast(LIMIT));
    assertThat(failure.status()).isEqualTo(503);
    assertThat(failure).hasMessageEndingWith("unknown (bootstrap server http://prefill:8998): it answered 503");
    assertThat(failure.told()).doesNotContain("8998");
    assertThat(rig.prefill.calls()).isEmpty();
    late.register();
    assertThat(answer.collectList().block(LIMIT)).hasSize(3);
  }

  @Test
  void aBootstrapServerThatDoesNotAnswerIsUnknownToo() {
    VirtualTimeScheduler time = VirtualTimeScheduler.create();
    DirectClient client = new DirectClient();
    Rig rig = Rig.direct(DialectName.MOONCAKE, client);
    client.latency(Mono::never);
    Dialects dialects = rig.dialects(client, Rig.METASERVER, new Random(1), time);
    List<Throwable> failures = new ArrayList<>();
    Flux<AnswerEvent> answer = dialects.answer(Rig.request("/v1/completions", BODY), rig.pair());
    answer.subscribe(event -> {}, failures::add);
    answer.subscribe(event -> {}, failures::add);
    time.advanceTimeBy(LIMIT);
    assertThat(failures).hasSize(2).allSatisfy(failure -> assertThat(failure).isInstanceOf(RequestFailure.class)
        .hasMessageContaining("it did not answer within 2000 ms"));
    client.latency(Mono::empty);
    assertThat(answer.collectList().block(LIMIT)).hasSize(3);
  }

  /// A prefill that restarted has other engine ids: one request fails, the next asks again.
  @Test
  void engineIdsAreAskedForAgainAfterAFailure() {
    DirectClient client = new DirectClient();
    Rig rig = Rig.direct(DialectName.MOONCAKE, client);
    Dialects dialects = rig.dialects(client, Rig.METASERVER, new Random(1), Schedulers.parallel());
    Flux<AnswerEvent> answer = dialects.answer(Rig.request("/v1/completions", BODY), rig.pair());
    assertThat(answer.collectList().block(LIMIT)).hasSize(3);
    ((MooncakePrefill) rig.prefill).restart(List.of("other"));
    LegFailure failure = catchThrowableOfType(LegFailure.class, () -> answer.blockLast(LIMIT));
    assertThat(failure.body()).containsAnyOf("is unknown", "must be a rank");
    assertThat(answer.collectList().block(LIMIT)).hasSize(3);
  }

  /// What an engine says about transfers is none of the client's business; a reason of `abort` is no end of an answer.
  @Test
  void anAnswerThatDecodeGaveUpIsAFailure() {
    DirectClient client = new DirectClient();
    Rig rig = Rig.direct(DialectName.NIXL_PULL, client);
    Dialects dialects = rig.dialects(client, Rig.METASERVER, new Random(1), Schedulers.parallel());
    client.answers((leg, text) -> leg.role() == Leg.Role.DECODE
        ? text.replace("\"finish_reason\":\"length\"", "\"finish_reason\":\"abort\"")
        : text);
    for (String body : List.of(BODY, BODY.replace("true", "false"))) {
      LegFailure failure = catchThrowableOfType(LegFailure.class,
          () -> dialects.answer(Rig.request("/v1/completions", body), rig.pair()).blockLast(LIMIT));
      assertThat(failure).hasMessageContaining("ended its answer early: abort");
      assertThat(failure.role()).isEqualTo(Leg.Role.DECODE);
      assertThat(failure.isTransient()).isTrue();
    }
    client.answers((leg, text) -> leg.role() == Leg.Role.DECODE
        ? text.replace("{\"id\"", "{\"kv_transfer_params\":{},\"id\"")
        : text);
    assertThat(dialects.answer(Rig.request("/v1/completions", BODY.replace("true", "false")), rig.pair())
        .blockLast(LIMIT)).isInstanceOfSatisfying(AnswerEvent.Whole.class,
            whole -> assertThat(whole.body().has("kv_transfer_params")).isFalse());
  }

  @Test
  void ranksTakeTurns() {
    DirectClient client = new DirectClient();
    Rig rig = Rig.direct(DialectName.MOONCAKE, client);
    Dialects dialects = rig.dialects(client, Rig.METASERVER, new Random(1), Schedulers.parallel());
    for (int i = 0; i < 4; i++) {
      dialects.answer(Rig.request("/v1/completions", BODY), rig.pair()).blockLast(LIMIT);
    }
    assertThat(rig.prefill.calls()).extracting(call -> call.header(MooncakeDialect.RANK))
        .containsExactly("0", "1", "0", "1");
  }

  @Test
  void aSpareDecodeAnswersWhenTheFirstRefusesTheConnection() {
    DirectClient client = new DirectClient();
    Rig rig = Rig.direct(DialectName.NIXL_PULL, client);
    client.faults(leg -> leg.engine().url().toString().equals(Rig.DECODE)
        ? DirectClient.Fault.UNREACHABLE
        : DirectClient.Fault.NONE);
    Dialects dialects = rig.dialects(client, Rig.METASERVER, new Random(1), Schedulers.parallel());
    EnginePair pair = rig.pair(List.of(EngineAddress.parse(Rig.SPARE)));
    assertThat(dialects.answer(Rig.request("/v1/completions", BODY), pair).collectList().block(LIMIT)).hasSize(3);
    assertThat(rig.prefill.calls()).hasSize(1);
    assertThat(rig.network.held()).isZero();
  }

  /// Once a decode engine has had the leg, prefill may have freed the blocks: they must not be read again.
  @Test
  void aSpareDecodeIsNotAskedWhenTheFirstHadTheLeg() {
    DirectClient client = new DirectClient();
    Rig rig = Rig.direct(DialectName.NIXL_PULL, client);
    client.faults(leg -> leg.engine().url().toString().equals(Rig.DECODE)
        ? DirectClient.Fault.REFUSED
        : DirectClient.Fault.NONE);
    Dialects dialects = rig.dialects(client, Rig.METASERVER, new Random(1), Schedulers.parallel());
    EnginePair pair = rig.pair(List.of(EngineAddress.parse(Rig.SPARE)));
    LegFailure failure = catchThrowableOfType(LegFailure.class,
        () -> dialects.answer(Rig.request("/v1/completions", BODY), pair).blockLast(LIMIT));
    assertThat(failure.role()).isEqualTo(Leg.Role.DECODE);
    assertThat(failure.isTransient()).isTrue();
    assertThat(rig.decode.calls()).isEmpty();
  }

  @Test
  void coordinatesInSettingsAreUsedAtOnce() {
    DirectClient client = new DirectClient();
    Rig rig = Rig.direct(DialectName.NIXL_PUSH, client);
    client.faults(leg -> leg.role() == Leg.Role.PREFILL ? DirectClient.Fault.HANGS : DirectClient.Fault.NONE);
    Dialects dialects = rig.dialects(client, Rig.METASERVER, new Random(1), Schedulers.parallel());
    EnginePair pair =
        EnginePair.of(EngineAddress.parse(Rig.PREFILL + "#engine-id=p0&kv-host=10.1.1.1&kv-port=5600&tp-size=1"),
            EngineAddress.parse(Rig.DECODE));
    assertThat(dialects.answer(Rig.request("/v1/completions", BODY), pair).collectList().block(LIMIT)).hasSize(3);
  }

  @Test
  void aRequestForNoneOrTooManyChoicesIsRefused() {
    DirectClient client = new DirectClient();
    Rig rig = Rig.direct(DialectName.NIXL_PULL, client);
    Dialects dialects = rig.dialects(client, Rig.METASERVER, new Random(1), Schedulers.parallel());
    for (String n : List.of("0", "-1", "2.5", "\"2\"", "2000000000")) {
      RequestFailure failure = catchThrowableOfType(RequestFailure.class, () -> dialects
          .answer(Rig.request("/v1/completions", "{\"prompt\":[\"a\",\"b\"],\"n\":" + n + "}"), rig.pair())
          .blockLast(LIMIT));
      assertThat(failure.status()).isEqualTo(400);
    }
    assertThat(rig.prefill.calls()).isEmpty();
  }

  @Test
  void aMetaserverThatDecodeCannotReachIsRefused() {
    DirectClient client = new DirectClient();
    Rig rig = Rig.direct(DialectName.LAYERWISE, client);
    for (String url : List.of("http://0.0.0.0:8000/v1/metaserver", "http://[::]:8000/v1/metaserver",
        "http://host:0/v1/metaserver")) {
      Dialects dialects = rig.dialects(client, URI.create(url), new Random(1), Schedulers.parallel());
      RequestFailure failure = catchThrowableOfType(RequestFailure.class,
          () -> dialects.answer(Rig.request("/v1/completions", BODY), rig.pair()).blockLast(LIMIT));
      assertThat(failure).hasMessage("metaserver must be a URL that decode engines reach (was " + url + ")");
    }
    assertThat(rig.decode.calls()).isEmpty();
  }

  @Test
  void aRequestForMoreRoomsThanItHasIsRefused() {
    DirectClient client = new DirectClient();
    Rig rig = Rig.direct(DialectName.SGLANG, client);
    Dialects dialects = rig.dialects(client, Rig.METASERVER, new Random(1), Schedulers.parallel());
    RequestFailure failure = catchThrowableOfType(RequestFailure.class,
        () -> dialects.answer(Rig.request("/v1/completions", "{\"prompt\":[\"a\",\"b\"],\"n\":32769}"), rig.pair())
            .blockLast(LIMIT));
    assertThat(failure).hasMessage("prompts times n must be at most 65536 (was 65538)");
    assertThat(rig.prefill.calls()).isEmpty();
  }

  @Test
  void instancesOfAPairMustSpeakOneDialect() {
    DirectClient client = new DirectClient();
    Rig rig = Rig.direct(DialectName.NIXL_PULL, client);
    Dialects dialects = rig.dialects(client, Rig.METASERVER, new Random(1), Schedulers.parallel());
    EnginePair mixed = EnginePair.of(EngineAddress.parse(Rig.PREFILL + "#dialect=sglang"),
        EngineAddress.parse(Rig.DECODE + "#dialect=mooncake"));
    RequestFailure failure = catchThrowableOfType(RequestFailure.class, () -> dialects.nameOf(mixed));
    assertThat(failure).hasMessageContaining("were sglang at http://prefill:8100 and mooncake at http://decode:8200");
    assertThat(dialects.nameOf(rig.pair())).isEqualTo(DialectName.NIXL_PULL);
    assertThat(dialects.nameOf(
        EnginePair.of(EngineAddress.parse(Rig.PREFILL), EngineAddress.parse(Rig.DECODE + "#dialect=mooncake"))))
        .isEqualTo(DialectName.MOONCAKE);
  }

  /// A dialect that learns coordinates from a first answer must know them before a leg of a second is broken.
  private static void knowCoordinates(Rig rig, DirectClient client, Dialects dialects, Broken broken) {
    if (rig.name != DialectName.NIXL_PUSH) {
      return;
    }
    client.tampering(leg -> leg);
    dialects.answer(Rig.request("/v1/completions", BODY), rig.pair()).blockLast(LIMIT);
    client.tampering(leg -> leg.role() == broken.role() ? broken.change().apply(leg) : leg);
  }

  private static Broken without(DialectName dialect, Leg.Role role, String name, String refusal) {
    return transfer(dialect, role, "no " + name, transfer -> transfer.remove(name), refusal);
  }

  private static Broken transfer(DialectName dialect, Leg.Role role, String what, Consumer<ObjectNode> change,
      String refusal) {
    return body(dialect, role, what, body -> change.accept((ObjectNode) body.path("kv_transfer_params")), refusal);
  }

  private static Broken body(DialectName dialect, Leg.Role role, String what, Consumer<ObjectNode> change,
      String refusal) {
    return new Broken(dialect, role, what, leg -> changed(leg, change), refusal);
  }

  private static Broken anonymous(DialectName dialect, Leg.Role role) {
    return header(dialect, role, "no request id", headers -> headers.remove(Legs.REQUEST_ID),
        "X-Request-Id is missing");
  }

  private static Broken header(DialectName dialect, Leg.Role role, String what, Consumer<Map<String, String>> change,
      String refusal) {
    return new Broken(dialect, role, what, leg -> {
      Map<String, String> headers = new HashMap<>(leg.headers());
      change.accept(headers);
      return new Leg(leg.role(), leg.engine(), leg.path(), headers, leg.body());
    }, refusal);
  }

  private static Leg changed(Leg leg, Consumer<ObjectNode> change) {
    ObjectNode body = leg.body().deepCopy();
    change.accept(body);
    return new Leg(leg.role(), leg.engine(), leg.path(), leg.headers(), body);
  }
}
