# nginx: two processes, each with a pool of threads that read files.
# policies: fifo round_robin feedback
. "$STEPS"

port=$(free_port)
mkdir served
for kilobytes in 1 64 1024; do
    head -c $((kilobytes * 1024)) /dev/urandom >served/$kilobytes
done
cat >nginx.conf <<END
daemon off;
worker_processes 2;
pid $PWD/pid;
error_log stderr warn;
thread_pool default threads=8 max_queue=65536;
events { worker_connections 1024; }
http {
    access_log off;
    client_body_temp_path $PWD/body;
    proxy_temp_path $PWD/proxy;
    fastcgi_temp_path $PWD/fastcgi;
    uwsgi_temp_path $PWD/uwsgi;
    scgi_temp_path $PWD/scgi;
    server {
        listen 127.0.0.1:$port;
        root $PWD/served;
        aio threads;
        directio 4k;
        sendfile off;
        output_buffers 2 32k;
    }
}
END
served() { curl --silent --fail --max-time 20 http://127.0.0.1:$port/$1 | cmp - served/$1; }

serve /usr/sbin/nginx -c "$PWD/nginx.conf" -e stderr
answers served 1
for file in 1 64 1024; do
    step "a file of $file KiB" $PATIENCE served $file
done
load() {
    wrk --threads 2 --connections 50 --duration "${SECONDS_OF_LOAD}s" --timeout 30s http://127.0.0.1:$port/64 >wrk
    local status=$?
    cat wrk
    ((status == 0)) && ! grep -E 'Socket errors|Non-2xx|^ *0 requests' wrk
}
step "the load" $((SECONDS_OF_LOAD + PATIENCE)) load
step "a file of 1024 KiB after it" $PATIENCE served 1024
ends
finish
