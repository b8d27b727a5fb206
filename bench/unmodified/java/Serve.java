import java.io.*;
import java.net.*;
import java.util.Arrays;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;

/** A server with a thread for each connection, and its clients: each answer must be to its own question. */
public class Serve {
    static final int CLIENTS = 30;
    static final int QUESTIONS = 20; // of a connection

    public static void main(String[] arguments) throws Exception {
        long end = System.nanoTime() + Integer.parseInt(arguments[0]) * 1_000_000_000L;
        ExecutorService threads = Executors.newCachedThreadPool();
        AtomicLong answered = new AtomicLong();
        try (ServerSocket server = new ServerSocket(0, 100, InetAddress.getLoopbackAddress())) {
            Future<?> accepts = threads.submit(() -> {
                for (;;) {
                    Socket socket = server.accept();
                    threads.submit(() -> {
                        answer(socket);
                        return null;
                    });
                }
            });
            Future<?>[] clients = new Future<?>[CLIENTS];
            for (int i = 0; i < CLIENTS; i++) {
                int number = i;
                clients[i] = threads.submit(() -> {
                    long connection = 0;
                    do
                        answered.addAndGet(ask(server.getLocalPort(), number, connection++));
                    while (System.nanoTime() < end);
                    return null;
                });
            }
            for (Future<?> client : clients)
                client.get();
            server.close();
            try {
                accepts.get(60, TimeUnit.SECONDS);
                throw new AssertionError("a closed socket accepts");
            } catch (ExecutionException exception) {
                if (!(exception.getCause() instanceof SocketException))
                    throw exception;
            }
        }
        threads.shutdown();
        if (!threads.awaitTermination(60, TimeUnit.SECONDS))
            throw new AssertionError("threads of the server do not end");
        System.out.println(answered + " questions");
    }

    /** Sends back what comes, line by line, with the bytes in the opposite order. */
    static void answer(Socket socket) throws IOException {
        try (socket;
             DataInputStream in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
             DataOutputStream out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()))) {
            for (;;) {
                byte[] bytes = new byte[in.readInt()];
                in.readFully(bytes);
                out.writeInt(bytes.length);
                for (int i = bytes.length; i-- > 0;)
                    out.write(bytes[i]);
                out.flush();
            }
        } catch (EOFException exception) {
            return; // the client has all
        }
    }

    static int ask(int port, int number, long connection) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout(60_000);
            DataInputStream in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
            DataOutputStream out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
            for (int question = 0; question < QUESTIONS; question++) {
                byte[] asked = new byte[1 + (number * 7919 + question * 104729) % 20_000], answered = new byte[asked.length];
                for (int i = 0; i < asked.length; i++)
                    asked[i] = (byte) (i * 31 + number + connection);
                out.writeInt(asked.length);
                out.write(asked);
                out.flush();
                if (in.readInt() != asked.length)
                    throw new IOException("the answer has another length");
                in.readFully(answered);
                for (int i = 0; i < asked.length / 2; i++) {
                    byte byteThere = answered[i];
                    answered[i] = answered[asked.length - 1 - i];
                    answered[asked.length - 1 - i] = byteThere;
                }
                if (!Arrays.equals(asked, answered))
                    throw new IOException("the answer is to another question");
            }
            return QUESTIONS;
        }
    }
}
