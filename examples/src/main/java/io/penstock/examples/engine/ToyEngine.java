package io.penstock.examples.engine;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import java.util.zip.CRC32C;

/// An engine of four layers of attention over seeded weights, whose answers depend on every row of its KV cache. It
/// keeps the rows of a session in one piece of memory, token by token; any other place would do.
final class ToyEngine {
  private static final int LAYERS = 4;
  private static final int HEADS = 2;
  private static final int HEAD_DIM = 16;
  private static final int WIDTH = HEADS * HEAD_DIM;
  private static final int WORDS = 97;
  private static final int MAX_TOKENS = 1024;
  private static final long ROW_BYTES = (long) WIDTH * Float.BYTES;

  private final float[][] words = new float[WORDS][WIDTH];
  /// Of each layer: query, key and value.
  private final float[][][] weights = new float[3 * LAYERS][WIDTH][WIDTH];
  private final CRC32C digest = new CRC32C();

  /// @param seed of the weights
  ToyEngine(long seed) {
    Random random = new Random(seed);
    fill(words, random);
    for (float[][] matrix : weights) {
      fill(matrix, random);
    }
  }

  private void fill(float[][] matrix, Random random) {
    for (float[] row : matrix) {
      for (int i = 0; i < row.length; i++) {
        row[i] = (float) random.nextGaussian() / 6;
        digest.update(Float.floatToRawIntBits(row[i]));
      }
    }
  }

  String name() {
    return "toy";
  }

  int layers() {
    return LAYERS;
  }

  int heads() {
    return HEADS;
  }

  int headDim() {
    return HEAD_DIM;
  }

  String weightsDigest() {
    return "crc32c:" + Long.toHexString(digest.getValue());
  }

  Session session() {
    return new Session();
  }

  /// One conversation and its KV cache.
  final class Session {
    private final MemorySegment cache = Arena.ofAuto().allocate(2L * LAYERS * MAX_TOKENS * ROW_BYTES, Long.BYTES);
    private int computed;

    /// Tokens that this session computed itself.
    int computed() {
      return computed;
    }

    /// Where the keys (plane 0) or values (plane 1) of a token are in a layer.
    MemorySegment row(int layer, int plane, int token) {
      return cache.asSlice(((long) token * LAYERS * 2 + layer * 2L + plane) * ROW_BYTES, ROW_BYTES);
    }

    /// Computes `tokens` from position `start` on. The session has the rows before.
    ///
    /// @return the most probable next token
    int forward(int[] tokens, int start) {
      float[] state = {};
      for (int i = 0; i < tokens.length; i++) {
        state = forward(tokens[i], start + i);
      }
      computed += tokens.length;
      return nearest(state);
    }

    /// Continues from position `start` on, with `first` as the first token.
    int[] answer(int first, int start, int length) {
      int[] answer = new int[length];
      answer[0] = first;
      for (int i = 1; i < length; i++) {
        answer[i] = forward(new int[] {answer[i - 1]}, start + i - 1);
      }
      return answer;
    }

    private float[] forward(int token, int position) {
      float[] state = words[token].clone();
      for (int layer = 0; layer < LAYERS; layer++) {
        float[] query = times(weights[3 * layer], state);
        MemorySegment.copy(times(weights[3 * layer + 1], state), 0, row(layer, 0, position), ValueLayout.JAVA_FLOAT, 0,
            WIDTH);
        MemorySegment.copy(times(weights[3 * layer + 2], state), 0, row(layer, 1, position), ValueLayout.JAVA_FLOAT, 0,
            WIDTH);
        for (int head = 0; head < HEADS; head++) {
          attend(layer, head, query, position, state);
        }
      }
      return state;
    }

    private void attend(int layer, int head, float[] query, int position, float[] state) {
      float sum = 0;
      float[] out = new float[HEAD_DIM];
      for (int token = 0; token <= position; token++) {
        float score = 0;
        for (int i = head * HEAD_DIM; i < (head + 1) * HEAD_DIM; i++) {
          score += query[i] * row(layer, 0, token).getAtIndex(ValueLayout.JAVA_FLOAT, i);
        }
        float weight = (float) StrictMath.exp(score);
        sum += weight;
        for (int i = 0; i < HEAD_DIM; i++) {
          out[i] += weight * row(layer, 1, token).getAtIndex(ValueLayout.JAVA_FLOAT, head * HEAD_DIM + i);
        }
      }
      for (int i = 0; i < HEAD_DIM; i++) {
        state[head * HEAD_DIM + i] += out[i] / sum;
      }
    }
  }

  private static float[] times(float[][] matrix, float[] vector) {
    float[] product = new float[WIDTH];
    for (int row = 0; row < WIDTH; row++) {
      for (int i = 0; i < WIDTH; i++) {
        product[row] += matrix[row][i] * vector[i];
      }
    }
    return product;
  }

  private int nearest(float[] state) {
    int best = 0;
    float most = Float.NEGATIVE_INFINITY;
    for (int word = 0; word < WORDS; word++) {
      float score = 0;
      for (int i = 0; i < WIDTH; i++) {
        score += words[word][i] * state[i];
      }
      if (score > most) {
        most = score;
        best = word;
      }
    }
    return best;
  }
}
