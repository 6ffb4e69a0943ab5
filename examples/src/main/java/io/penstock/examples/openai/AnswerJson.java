package io.penstock.examples.openai;

import io.penstock.examples.openai.EngineResult.Reason;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/// Writes the answer to one request as JSON, whole or in events of a stream.
final class AnswerJson {
  private static final byte[] DONE = "data: [DONE]\n\n".getBytes(StandardCharsets.UTF_8);

  private final JsonMapper json;
  private final String model;
  private final GenerationRequest request;
  private final Answer answer;
  private final long created;
  private final StringBuilder text = new StringBuilder();
  /// All events of the stream begin so.
  private final String begin;

  AnswerJson(JsonMapper json, String model, GenerationRequest request, Answer answer, long created) {
    this.json = json;
    this.model = model;
    this.request = request;
    this.answer = answer;
    this.created = created;
    String head = json.writeValueAsString(head(request.form().chunkObject()));
    this.begin = "data: " + head.substring(0, head.length() - 1) + ",\"choices\":[";
  }

  private ObjectNode head(String object) {
    return json.createObjectNode().put("id", request.request().id()).put("object", object).put("created", created)
        .put("model", model);
  }

  /// Events of a stream for one part; none for a part that shows nothing.
  byte[] events(Answer.Part part) {
    return switch (part) {
      case Answer.Part.Begin begins -> opening();
      case Answer.Part.Delta delta -> delta.text().isEmpty() && !request.tokenIds()
          ? new byte[0]
          : utf8(chunk(delta.text(), delta.token(), null, null));
      case Answer.Part.End end -> utf8(chunk(end.text(), end.token(), end.result().reason(), end.result().transfer())
          + (request.usage() ? begin + "],\"usage\":" + usage() + "}\n\n" : "") + "data: [DONE]\n\n");
    };
  }

  private byte[] opening() {
    String prompt = request.tokenIds()
        ? ",\"prompt_token_ids\":" + json.writeValueAsString(request.request().prompt())
        : "";
    if (request.form() == AnswerForm.CHAT) {
      return utf8(begin + "{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"logprobs\":null,"
          + "\"finish_reason\":null}]" + prompt + "}\n\n");
    }
    return prompt.isEmpty()
        ? new byte[0]
        : utf8(begin + "{\"index\":0,\"text\":\"\",\"logprobs\":null,\"finish_reason\":null" + prompt + "}]}\n\n");
  }

  private String chunk(String delta, int token, @Nullable Reason reason, @Nullable JsonNode transfer) {
    StringBuilder chunk = new StringBuilder(begin).append("{\"index\":0,");
    String quoted = json.writeValueAsString(delta);
    if (request.form() == AnswerForm.CHAT) {
      chunk.append("\"delta\":{");
      if (!delta.isEmpty()) {
        chunk.append("\"content\":").append(quoted);
      }
      chunk.append('}');
    } else {
      chunk.append("\"text\":").append(quoted);
    }
    chunk.append(",\"logprobs\":null,\"finish_reason\":").append(reason == null ? "null" : '"' + word(reason) + '"');
    if (request.tokenIds()) {
      chunk.append(",\"token_ids\":").append(token < 0 ? "[]" : "[" + token + "]");
    }
    chunk.append("}]");
    if (transfer != null) {
      chunk.append(",\"kv_transfer_params\":").append(transfer);
    }
    return chunk.append("}\n\n").toString();
  }

  /// Takes a part of an answer that is not a stream.
  void add(Answer.Part part) {
    switch (part) {
      case Answer.Part.Begin begins -> text.setLength(0);
      case Answer.Part.Delta delta -> text.append(delta.text());
      case Answer.Part.End end -> text.append(end.text());
    }
  }

  /// The whole answer, when all parts are added.
  byte[] whole(EngineResult result) {
    ObjectNode root = head(request.form().object());
    ObjectNode choice = root.putArray("choices").addObject().put("index", 0);
    if (request.form() == AnswerForm.CHAT) {
      choice.putObject("message").put("role", "assistant").put("content", text.toString());
    } else {
      choice.put("text", text.toString());
    }
    choice.putNull("logprobs").put("finish_reason", word(result.reason()));
    if (request.tokenIds()) {
      choice.set("token_ids", json.valueToTree(answer.tokens()));
      (request.form() == AnswerForm.CHAT ? root : choice).set("prompt_token_ids",
          json.valueToTree(request.request().prompt()));
    }
    root.set("usage", usage());
    if (result.transfer() != null) {
      root.set("kv_transfer_params", result.transfer());
    }
    return json.writeValueAsBytes(root);
  }

  private ObjectNode usage() {
    int prompt = request.request().prompt().length;
    List<Integer> tokens = answer.tokens();
    ObjectNode usage = json.createObjectNode().put("prompt_tokens", prompt).put("completion_tokens", tokens.size())
        .put("total_tokens", prompt + tokens.size());
    usage.putObject("prompt_tokens_details").put("cached_tokens", answer.cachedTokens());
    return usage;
  }

  /// The events that end a stream which has failed.
  static byte[] failed(JsonMapper json, ApiException error) {
    return utf8("data: " + json.writeValueAsString(error(json, error)) + "\n\n" + new String(DONE,
        StandardCharsets.UTF_8));
  }

  static ObjectNode error(JsonMapper json, ApiException error) {
    ObjectNode root = json.createObjectNode();
    root.putObject("error").put("message", error.getMessage()).put("type", error.type()).put("param", error.param())
        .put("code", error.status().code());
    return root;
  }

  private static String word(Reason reason) {
    return reason.name().toLowerCase(Locale.ROOT);
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
