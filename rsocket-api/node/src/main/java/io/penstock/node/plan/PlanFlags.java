package io.penstock.node.plan;

import io.penstock.check.Checks;
import io.penstock.node.shape.ModelPreset;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/// Options that state a plan's input in place of a document: a known model, the ranks of two sides, a request.
final class PlanFlags {
  private static final int PROMPT_TOKENS = 8192;

  @Option(names = "--model", paramLabel = "NAME",
      description = "Model that `penstock models` lists. With it, standard input is not read.")
  private @Nullable String model;

  @Option(names = "--prefill-tp", paramLabel = "N", description = "Tensor-parallel ranks of prefill.")
  private @Nullable Integer prefillTp;

  @Option(names = "--decode-tp", paramLabel = "N", description = "Tensor-parallel ranks of decode.")
  private @Nullable Integer decodeTp;

  @Option(names = "--prefill-pp", paramLabel = "N", description = "Pipeline stages of prefill (default: 1).")
  private @Nullable Integer prefillPp;

  @Option(names = "--decode-pp", paramLabel = "N", description = "Pipeline stages of decode (default: 1).")
  private @Nullable Integer decodePp;

  @Option(names = "--prefill-block-tokens", paramLabel = "N",
      description = "Tokens of a block of prefill (default: 16).")
  private @Nullable Integer prefillBlockTokens;

  @Option(names = "--decode-block-tokens", paramLabel = "N", description = "Tokens of a block of decode (default: 16).")
  private @Nullable Integer decodeBlockTokens;

  @Option(names = "--prompt-tokens", paramLabel = "N",
      description = "Tokens of the request's prompt (default: " + PROMPT_TOKENS + ").")
  private @Nullable Integer promptTokens;

  @Option(names = "--cached-tokens", paramLabel = "N",
      description = "Tokens of its start that decode has already (default: 0).")
  private @Nullable Integer cachedTokens;

  /// The input that these options state; empty if none is given.
  ///
  /// @throws IllegalArgumentException naming the options that are missing, or the unknown model
  Optional<Case> stated() {
    Map<String, @Nullable Object> required = new LinkedHashMap<>();
    required.put("--model", model);
    required.put("--prefill-tp", prefillTp);
    required.put("--decode-tp", decodeTp);
    if (given().isEmpty()) {
      return Optional.empty();
    }
    String missing = required.entrySet().stream().filter(option -> option.getValue() == null).map(Map.Entry::getKey)
        .collect(Collectors.joining(", "));
    if (!missing.isEmpty()) {
      throw new IllegalArgumentException("%s must be given with %s (was left out)".formatted(missing, given()));
    }
    return Optional.of(new Case("", 0, input(known(String.valueOf(model))), null));
  }

  void requireNone(String reason) {
    if (!given().isEmpty()) {
      throw new IllegalArgumentException("%s must be left out %s (was given)".formatted(given(), reason));
    }
  }

  private static String known(String name) {
    if (ModelPreset.of(name).isEmpty()) {
      throw new IllegalArgumentException("--model %s (was %s)".formatted(PlanShape.unknown(name), name));
    }
    return name;
  }

  private ObjectNode input(String name) {
    ObjectNode input = JsonNodeFactory.instance.objectNode();
    input.putObject("model").put("name", name);
    side(input.putObject("prefill"), "prefill", prefillTp, prefillPp, prefillBlockTokens);
    side(input.putObject("decode"), "decode", decodeTp, decodePp, decodeBlockTokens);
    input.putObject("request").put("id", "request").put("promptTokens", promptTokens == null
        ? PROMPT_TOKENS
        : promptTokens).put("cachedTokens", cachedTokens == null ? 0 : cachedTokens);
    return input;
  }

  private static void side(ObjectNode side, String name, @Nullable Integer tp, @Nullable Integer pp,
      @Nullable Integer blockTokens) {
    put(side, "tp", "--" + name + "-tp", tp);
    put(side, "pp", "--" + name + "-pp", pp);
    put(side, "blockTokens", "--" + name + "-block-tokens", blockTokens);
  }

  private static void put(ObjectNode side, String field, String option, @Nullable Integer value) {
    if (value != null) {
      side.put(field, Checks.positive(option, value));
    }
  }

  private String given() {
    Map<String, @Nullable Object> all = new LinkedHashMap<>();
    all.put("--model", model);
    all.put("--prefill-tp", prefillTp);
    all.put("--decode-tp", decodeTp);
    all.put("--prefill-pp", prefillPp);
    all.put("--decode-pp", decodePp);
    all.put("--prefill-block-tokens", prefillBlockTokens);
    all.put("--decode-block-tokens", decodeBlockTokens);
    all.put("--prompt-tokens", promptTokens);
    all.put("--cached-tokens", cachedTokens);
    return all.entrySet().stream().filter(option -> option.getValue() != null).map(Map.Entry::getKey)
        .collect(Collectors.joining(", "));
  }
}
