package io.penstock.gateway.engines;

/// An engine that refuses a request, in the form of OpenAI's errors.
final class Refusal extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final int status;

  Refusal(int status, String message) {
    super(message);
    this.status = status;
  }

  static void unless(boolean kept, String rule) {
    if (!kept) {
      throw new Refusal(400, rule);
    }
  }

  Reply reply() {
    var body = Tree.object();
    String type = status < 500 ? "BadRequestError" : "InternalServerError";
    body.putObject("error").put("message", getMessage()).put("type", type).put("code", status);
    return Reply.json(status, body);
  }
}
