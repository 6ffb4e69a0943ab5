package io.penstock.lab.bench.gateway;

/// The form of an answer: where it is asked for, and how a client sees its tokens and its end.
enum AnswerForm {
  CHAT("chat", "/v1/chat/completions", "\"messages\":[{\"role\":\"user\",\"content\":\"%s\"}],\"max_tokens\"",
      "\"content\":\"" + BenchEngine.MARK, "data: [DONE]"),
  COMPLETIONS("completions", "/v1/completions", "\"prompt\":\"%s\",\"max_tokens\"", "\"text\":\"" + BenchEngine.MARK,
      "data: [DONE]"),
  RESPONSES("responses", "/v1/responses", "\"input\":\"%s\",\"max_output_tokens\"", "\"delta\":\"" + BenchEngine.MARK,
      "event: response.completed"),
  MESSAGES("messages", "/v1/messages", "\"messages\":[{\"role\":\"user\",\"content\":\"%s\"}],\"max_tokens\"",
      "\"text_delta\",\"text\":\"" + BenchEngine.MARK, "event: message_stop");

  private final String word;
  private final String path;
  private final String fields;
  private final String token;
  private final String end;

  /// @param fields of the request that differ from form to form
  /// @param token the bytes before the time of a token
  /// @param end the bytes that only a whole answer has
  AnswerForm(String word, String path, String fields, String token, String end) {
    this.word = word;
    this.path = path;
    this.fields = fields;
    this.token = token;
    this.end = end;
  }

  String word() {
    return word;
  }

  String path() {
    return path;
  }

  /// The form that an engine without a gateway is asked for in its place.
  AnswerForm ofEngine() {
    return this == COMPLETIONS ? COMPLETIONS : CHAT;
  }

  /// A request for a streamed answer.
  String request(String prompt, int tokens) {
    return "{\"model\":\"bench\",\"stream\":true," + fields.formatted(prompt) + ":" + tokens + "}";
  }

  AnswerScan scan() {
    return new AnswerScan(token, end);
  }
}
