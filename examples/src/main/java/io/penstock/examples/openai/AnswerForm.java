package io.penstock.examples.openai;

/// The two forms of an answer.
enum AnswerForm {
  COMPLETION("cmpl-", "text_completion", "text_completion"),
  CHAT("chatcmpl-", "chat.completion", "chat.completion.chunk");

  private final String idPrefix;
  private final String object;
  private final String chunkObject;

  AnswerForm(String idPrefix, String object, String chunkObject) {
    this.idPrefix = idPrefix;
    this.object = object;
    this.chunkObject = chunkObject;
  }

  String idPrefix() {
    return idPrefix;
  }

  String object() {
    return object;
  }

  String chunkObject() {
    return chunkObject;
  }
}
