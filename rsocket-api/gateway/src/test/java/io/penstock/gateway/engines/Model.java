package io.penstock.gateway.engines;

import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;

/// The model of all scripted engines: tokens are words, and each is a function of the seed and of all tokens before it,
/// so that an answer can go on from its prompt and its first tokens.
public final class Model {
  private static final int SHORT = 6;

  private Model() {}

  /// The prompts of a body.
  static List<String> prompts(JsonNode body, boolean chat) {
    if (chat) {
      StringBuilder all = new StringBuilder();
      body.path("messages").forEach(message -> all.append(message.path("role").asString("")).append(": ")
          .append(content(message.path("content"))).append(' '));
      return List.of(all.toString().strip());
    }
    JsonNode prompt = body.path("prompt");
    if (!prompt.isArray() || (!prompt.isEmpty() && prompt.get(0).isNumber())) {
      return List.of(words(prompt));
    }
    List<String> prompts = new ArrayList<>();
    prompt.forEach(one -> prompts.add(words(one)));
    return prompts;
  }

  /// The tokens of one choice.
  static List<Integer> tokens(String prompt, long seed, int most) {
    List<Integer> all = new ArrayList<>(ids(prompt));
    int before = all.size();
    for (int i = 0; i < Math.min(most, SHORT); i++) {
      all.add((int) Math.floorMod(31L * all.hashCode() + 17 * seed, 1000L));
    }
    return all.subList(before, all.size());
  }

  /// The token ids of a prompt. A word such as `#7` is the token 7.
  static List<Integer> ids(String prompt) {
    List<Integer> ids = new ArrayList<>();
    if (!prompt.isEmpty()) {
      for (String word : prompt.split(" ")) {
        ids.add(word.matches("#\\d{1,9}") ? Integer.parseInt(word.substring(1)) : id(word));
      }
    }
    return ids;
  }

  private static int id(String word) {
    return Math.floorMod(word.hashCode(), 1_000_000) + 1_000;
  }

  /// The text of a token.
  static String text(int token) {
    return " w" + token;
  }

  /// The reason why a choice ended: its text is over after [#SHORT] tokens.
  static String reason(int most) {
    return most >= SHORT ? "stop" : "length";
  }

  static int length(String prompt) {
    return prompt.isEmpty() ? 0 : prompt.split(" ").length;
  }

  /// The tokens of a prompt that prefill finds in its cache.
  public static int cached(String prompt) {
    return length(prompt) / 2;
  }

  private static String words(JsonNode prompt) {
    if (!prompt.isArray()) {
      return prompt.asString("");
    }
    List<String> words = new ArrayList<>();
    prompt.forEach(token -> words.add("#" + token.asInt()));
    return String.join(" ", words);
  }

  private static String content(JsonNode content) {
    if (!content.isArray()) {
      return content.asString("");
    }
    StringBuilder text = new StringBuilder();
    content.forEach(part -> text.append(part.path("text").asString("")));
    return text.toString();
  }
}
