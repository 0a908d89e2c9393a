# The lab in a container: docker build -t ultr-lab . && docker run --rm -p 8501:8501 ultr-lab
# Nothing is downloaded at run time; the built-in corpus is made on the spot.
FROM python:3.11-slim

ENV PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 OMP_NUM_THREADS=1 MALLOC_ARENA_MAX=2 \
    HOME=/home/lab
RUN useradd --create-home --home-dir /home/lab --uid 10001 lab
WORKDIR /srv/ultr-lab

COPY requirements.txt .
COPY requirements requirements
RUN pip install --no-cache-dir -r requirements.txt && python -m compileall -q /usr/local/lib/python3.11

COPY .streamlit .streamlit
COPY ultr_core ultr_core
COPY pages pages
COPY app.py LICENSE README.md ./

USER lab
EXPOSE 8501
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s --retries=3 \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8501/_stcore/health', timeout=4)"]

# What follows the image's name goes to the lab: docker run ... ultr-lab --corpus /data
ENTRYPOINT ["streamlit", "run", "app.py", "--server.address", "0.0.0.0", "--server.port", "8501", \
    "--server.headless", "true", "--"]
