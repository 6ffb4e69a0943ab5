package io.penstock.examples;

/// One runnable example: the name it is called by, one line that says what it shows, and its `main`.
record Story(String name, String line, Main main) {
  /// The shape of a `main` method.
  @FunctionalInterface
  interface Main {
    void main(String[] args) throws Exception;
  }
}
